// SPDX-License-Identifier: BSL-1.0
// per_loop: one object for each loop that asks for it.
#pragma once

#include "../../base/work/next_number.hpp"
#include "../../net/loop/event_loop.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <new>

#include <boost/system/system_error.hpp>

namespace quintet {

/// Each T is made and used on its loop's thread. All of them live as long as this object.
template <class T>
class per_loop {
 public:
  per_loop() noexcept : number_(next_number<per_loop>()) {}
  per_loop(const per_loop&) = delete;
  per_loop& operator=(const per_loop&) = delete;

  /// [loop] Returns the loop's T, which the first call makes of the arguments; nullptr if that fails for lack of memory
  /// or threads. Takes no lock if it is the T that this thread asked for last.
  template <class... Arguments>
  T* of(event_loop& loop, Arguments&... arguments) noexcept {
    if (last.number == number_ && last.loop == &loop) [[likely]]
      return last.value;
    return find(loop, arguments...);
  }
  /// [any thread] Calls f(const T&) for each object, under the lock.
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
    std::uint64_t number = 0;  // not an address: a new per_loop may get the address of a destroyed one
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
  } catch (const boost::system::system_error&) {
    return nullptr;
  }

  static inline constinit thread_local last_used last;
  const std::uint64_t number_;  // unique among all per_loop<T> of the process
  mutable std::mutex mutex_;
  std::list<entry> all_;  // linear search: there are few loops
};

}  // namespace quintet
