// SPDX-License-Identifier: BSL-1.0
// drain_tracker: stops a loop when the last connection of a server or client has closed, or at a deadline.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "event_loop.hpp"

#include <atomic>
#include <cstddef>

namespace quintet {

/// Stops the main loop of a draining server or client when no connection is left, or at the deadline. Counts
/// connections from their accept or connect on, so that one in transit to its loop is counted too.
class drain_tracker final : private timer {
 public:
  explicit drain_tracker(event_loop& main) noexcept : main_(main) {}

  /// [any thread] A connection has been made. Each call needs one call of left(), when the connection is destroyed.
  void entered() noexcept { alive_.fetch_add(1); }
  void left() noexcept {
    if (alive_.fetch_sub(1) == 1 && begun_.load()) main_.stop();
  }
  /// [any thread] Posts f to the loop. The drain lasts at least until f has run. Throws std::bad_alloc.
  template <class F>
  void run_on(event_loop& loop, F f) {
    entered();
    try {
      loop.post([this, f]() noexcept {
        f();
        left();
      });
    } catch (...) {
      left();
      throw;
    }
  }
  /// [any thread] Returns the number of connections that have entered and not left.
  [[nodiscard]] std::size_t alive() const noexcept { return alive_.load(std::memory_order_relaxed); }
  /// [any thread] Whether draining has begun.
  [[nodiscard]] bool begun() const noexcept { return begun_.load(); }

  /// [loop] Main loop only. Begins to drain, for at most `within`.
  void begin(duration within) noexcept {
    begun_.store(true);
    if (alive_.load() == 0) return main_.stop();
    main_.start(*this, within);
  }

 private:
  void expired() noexcept override { main_.stop(); }

  event_loop& main_;
  std::atomic<std::size_t> alive_{0};
  std::atomic<bool> begun_{false};
};

}  // namespace quintet
