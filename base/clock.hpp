// SPDX-License-Identifier: BSL-1.0
// clock: where a loop reads the time, so that a test can hold the hands.
#pragma once

#include <chrono>

namespace quintet {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Returns `from + by`, or the last (or first) time_point where that would overflow: duration::max() means "never".
[[nodiscard]] constexpr time_point later(time_point from, duration by) noexcept {
  if (by > duration::zero()) return from > time_point::max() - by ? time_point::max() : from + by;
  return from < time_point::min() - by ? time_point::min() : from + by;
}

/// Monotonic time. The default is the system's; a loop keeps a reference, so the clock must outlive the loop.
class clock {
 public:
  virtual ~clock() = default;
  [[nodiscard]] virtual time_point now() const noexcept { return std::chrono::steady_clock::now(); }

  /// The system's clock, shared by all who inject none.
  static const clock& system() noexcept {
    static const clock instance;
    return instance;
  }
};

/// Time that stands still until it is moved. Not synchronised: for loops that are driven by hand, in one thread.
class manual_clock final : public clock {
 public:
  [[nodiscard]] time_point now() const noexcept override { return now_; }
  void advance(duration by) noexcept { now_ += by; }
  void set(time_point to) noexcept { now_ = to; }

 private:
  time_point now_{};
};

}  // namespace quintet
