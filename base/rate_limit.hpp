// SPDX-License-Identifier: BSL-1.0
// rate_limit: so many a second, and a burst: a token bucket that stores one point in time.
#pragma once

#include "clock.hpp"

#include <algorithm>

namespace quintet {

/// A full bucket holds `burst` tokens and gets `rate` new ones a second. Instead of tokens it keeps the time at which
/// it will be full again (the generic cell rate algorithm), so that there is nothing to refill and nothing to round.
class rate_limit {
 public:
  /// `rate` 0: no limit. `burst` 0: as many as come in a second.
  rate_limit(unsigned rate, unsigned burst) noexcept
      : interval_(rate == 0 ? duration::zero() : duration(std::chrono::seconds(1)) / rate),
        capacity_(interval_ * (burst == 0 ? std::max(rate, 1u) : burst)) {}

  /// Takes a token, also one that is not there yet.
  void take(time_point now) noexcept { full_ = std::max(full_, now) + interval_; }
  /// How long until there is a token to take; zero when there is one.
  [[nodiscard]] duration wait(time_point now) const noexcept {
    return std::max(duration::zero(), std::max(full_, now) + interval_ - capacity_ - now);
  }

 private:
  duration interval_, capacity_;
  time_point full_{};
};

}  // namespace quintet
