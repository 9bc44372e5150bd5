// SPDX-License-Identifier: BSL-1.0
// rate_limit: a rate per second with a burst: a token bucket that stores one point in time.
#pragma once

#include "clock.hpp"

#include <algorithm>

namespace quintet {

/// A full bucket holds `burst` tokens and gets `rate` new ones a second. It stores the time at which it will be full
/// again (the generic cell rate algorithm), so nothing needs refilling or rounding.
class rate_limit {
 public:
  /// `rate` 0: no limit. `burst` 0: the tokens of one second.
  rate_limit(unsigned rate, unsigned burst) noexcept
      : interval_(rate == 0 ? duration::zero() : duration(std::chrono::seconds(1)) / rate),
        capacity_(interval_ * (burst == 0 ? std::max(rate, 1u) : burst)) {}

  /// Takes a token, even if there is none yet.
  void take(time_point now) noexcept { full_ = std::max(full_, now) + interval_; }
  /// Returns the time until there is a token; zero if there is one.
  [[nodiscard]] duration wait(time_point now) const noexcept {
    return std::max(duration::zero(), std::max(full_, now) + interval_ - capacity_ - now);
  }

 private:
  duration interval_, capacity_;
  time_point full_{};
};

}  // namespace quintet
