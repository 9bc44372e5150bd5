// SPDX-License-Identifier: BSL-1.0
// affinity_guard: ends the program when the wrong thread touches a connection or loop, in builds that ask for it.
#pragma once

#include "../names/connection_id.hpp"

#include <pthread.h>

#include <atomic>
#include <source_location>

namespace quintet::detail {

/// Records the thread that owns an object: that holds a connection's baton, or is in a loop's run() or poll(). All
/// functions do nothing unless the library and the program were built with -DQUINTET_AFFINITY_GUARD=ON.
class affinity_guard {
 public:
  using place = std::source_location;

#ifdef QUINTET_AFFINITY_GUARD
  static constexpr bool enabled = true;
  affinity_guard() = default;

  /// [any thread] Makes the calling thread the owner. Returns the previous owner, for restore_owner().
  pthread_t enter() noexcept { return holder_.exchange(::pthread_self(), std::memory_order_relaxed); }
  void leave() noexcept { restore_owner(pthread_t{}); }
  void restore_owner(pthread_t before) noexcept { holder_.store(before, std::memory_order_relaxed); }

  /// [any thread] Ends the program with a report unless the calling thread holds the baton.
  void check_baton(const connection_id& of, const place& at) const noexcept {
    if (!is_here()) [[unlikely]]
      touched_without_baton(of, at);
  }
  /// [any thread] Ends the program with a report if another thread runs the loop.
  void check_loop(const place& at) const noexcept {
    if (!is_here() && holder_.load(std::memory_order_relaxed) != pthread_t{}) [[unlikely]]
      touched_from_outside(at);
  }

 private:
  [[nodiscard]] bool is_here() const noexcept { return holder_.load(std::memory_order_relaxed) == ::pthread_self(); }
  [[noreturn]] void touched_without_baton(const connection_id& of, const place& at) const noexcept;
  [[noreturn]] void touched_from_outside(const place& at) const noexcept;

  std::atomic<pthread_t> holder_{};
#else
  static constexpr bool enabled = false;
  static constexpr pthread_t enter() noexcept { return {}; }
  static constexpr void leave() noexcept {}
  static constexpr void restore_owner(pthread_t) noexcept {}
  static constexpr void check_baton(const connection_id&, const place&) noexcept {}
  static constexpr void check_loop(const place&) noexcept {}
#endif
};

}  // namespace quintet::detail
