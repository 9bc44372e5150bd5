// SPDX-License-Identifier: BSL-1.0
// backoff: the time to wait between attempts: exponential, with full jitter.
#pragma once

#include "../../base/clock.hpp"
#include "../options/reconnect_options.hpp"

#include <algorithm>
#include <random>

namespace quintet {

/// Computes waiting times. The n-th wait, from 0, is random between 0 and min(cap, base * 2^n), so that clients that
/// were disconnected together do not reconnect together.
class backoff {
 public:
  explicit backoff(const reconnect_options& options) noexcept
      : base_(options.base), cap_(options.cap), longest_(std::min(base_, cap_)) {}

  [[nodiscard]] duration next(std::mt19937_64& random) {
    const duration wait(std::uniform_int_distribution<duration::rep>(0, longest_.count())(random));
    longest_ = longest_ > cap_ / 2 ? cap_ : longest_ * 2;
    return wait;
  }
  void reset() noexcept { longest_ = std::min(base_, cap_); }

 private:
  duration base_, cap_, longest_;
};

}  // namespace quintet
