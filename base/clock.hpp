// SPDX-License-Identifier: BSL-1.0
// clock: the time source of a loop, which a test can replace.
#pragma once

#include <chrono>
#include <ctime>

namespace quintet {

/// A point in time, and a time between two, in nanoseconds.
using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// Returns `from + by`, or the last (or first) time_point where that would overflow: duration::max() means "never".
[[nodiscard]] constexpr time_point later(time_point from, duration by) noexcept {
  if (by > duration::zero()) return from > time_point::max() - by ? time_point::max() : from + by;
  return from < time_point::min() - by ? time_point::min() : from + by;
}

/// Returns `to - from`, or the longest (or most negative) duration where that would overflow.
[[nodiscard]] constexpr duration between(time_point from, time_point to) noexcept {
  const duration start = from.time_since_epoch(), end = to.time_since_epoch();
  if (start < duration::zero() && end > duration::max() + start) return duration::max();
  if (start > duration::zero() && end < duration::min() + start) return duration::min();
  return end - start;
}

/// Monotonic time. The default is the system's; a loop keeps a reference, so the clock must outlive the loop.
class clock {
 public:
  virtual ~clock() = default;
  /// Returns the present time of this clock.
  [[nodiscard]] virtual time_point now() const noexcept {
    std::timespec t;  // as std::chrono::steady_clock::now(), whose call is one more
    (void)::clock_gettime(CLOCK_MONOTONIC, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
  }

  /// Returns the system's clock, the default of every loop.
  static const clock& system() noexcept {
    static const clock instance;
    return instance;
  }
};

/// Time that stands still until it is moved. Not synchronised: for loops that one thread drives by hand.
class manual_clock final : public clock {
 public:
  /// Returns the time of the last set() or advance(); at first the epoch.
  [[nodiscard]] time_point now() const noexcept override { return now_; }
  /// Moves the time forward.
  void advance(duration by) noexcept { now_ = later(now_, by); }
  /// Sets the time, also back.
  void set(time_point to) noexcept { now_ = to; }

 private:
  time_point now_{};
};

}  // namespace quintet
