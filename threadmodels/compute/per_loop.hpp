// SPDX-License-Identifier: BSL-1.0
// per_loop: an object for each loop that asks for one.
#pragma once

#include "../../base/work/next_number.hpp"
#include "../../net/loop/event_loop.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <new>

namespace quintet {

/// Each T is made on its loop's thread and used there. All of them live as long as this object.
template <class T>
class per_loop {
 public:
  per_loop() noexcept : number_(next_number<per_loop>()) {}
  per_loop(const per_loop&) = delete;
  per_loop& operator=(const per_loop&) = delete;

  /// [loop] The loop's T, made of the arguments at the first call. Returns nullptr where there is no memory for it. The
  /// one that a thread has asked for last is found without a lock.
  template <class... Arguments>
  T* of(event_loop& loop, Arguments&... arguments) noexcept {
    if (last.number == number_ && last.loop == &loop) [[likely]]
      return last.value;
    return find(loop, arguments...);
  }
  /// [any thread] Calls f(const T&) for each of them.
  template <class F>
  void each(F f) const {
    const std::lock_guard lock(mutex_);
    for (const entry& e : all_) f(e.value);
  }

 private:
  struct entry {
    template <class... Arguments>
    explicit entry(const event_loop& l, Arguments&... arguments) : loop(&l), value(arguments...) {}
    const event_loop* loop;
    T value;
  };
  struct last_used {
    std::uint64_t number = 0;  // and not an address: another object may get that of one that is destroyed
    const event_loop* loop = nullptr;
    T* value = nullptr;
  };
  template <class... Arguments>
  [[gnu::noinline]] T* find(event_loop& loop, Arguments&... arguments) noexcept try {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find(all_, &loop, &entry::loop);
    if (found == all_.end()) found = all_.emplace(found, loop, arguments...);
    last = {number_, &loop, &found->value};
    return last.value;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  static inline constinit thread_local last_used last;
  const std::uint64_t number_;  // of all there have been
  mutable std::mutex mutex_;
  std::list<entry> all_;  // few
};

}  // namespace quintet
