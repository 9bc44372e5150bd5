// SPDX-License-Identifier: BSL-1.0
// drainage: knows when the last connection of a server or a client has left, or that it was given long enough.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "event_loop.hpp"

#include <atomic>
#include <cstddef>

namespace quintet {

/// Stops the main loop of what drains, when no connection is left or the deadline has come. Counts connections from the
/// moment they are accepted or made, so that one on its way to its loop is not forgotten.
class drainage final : private timer {
 public:
  explicit drainage(event_loop& main) noexcept : main_(main) {}

  /// [any thread] A connection has come about; it is gone.
  void entered() noexcept { alive_.fetch_add(1); }
  void left() noexcept {
    if (alive_.fetch_sub(1) == 1 && begun_.load()) main_.stop();
  }
  /// [any thread] Posts f to the loop, and is not over before f has run. Throws std::bad_alloc.
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
  /// [any thread] Those that have entered, and not left.
  [[nodiscard]] std::size_t alive() const noexcept { return alive_.load(std::memory_order_relaxed); }
  /// [any thread]
  [[nodiscard]] bool begun() const noexcept { return begun_.load(); }

  /// [loop] The main one.
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
