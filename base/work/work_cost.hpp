// SPDX-License-Identifier: BSL-1.0
// work_cost: the cost of recent runs of the same work.
#pragma once

#include "../clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace quintet {

/// Microseconds in two bytes, rounded up, at most 65 ms. A higher cost counts at once. A lower cost removes an eighth
/// of the difference, so that one expensive run is remembered for some time.
class work_cost {
 public:
  [[nodiscard]] bool is_known() const noexcept { return microseconds_ > 0; }
  /// 0: unknown.
  [[nodiscard]] std::uint16_t microseconds() const noexcept { return microseconds_; }
  void add(duration took) noexcept {
    const auto sample = rounded(took);
    if (sample >= microseconds_)
      microseconds_ = sample;
    else
      microseconds_ = static_cast<std::uint16_t>(microseconds_ - (microseconds_ - sample + 7) / 8);
  }
  /// Moves a sixteenth of the way to `other`, up or down: an average over many kinds of work.
  void blend(work_cost other) noexcept {
    const int step = other.microseconds_ - microseconds_;
    microseconds_ = is_known() ? static_cast<std::uint16_t>(microseconds_ + step / 16) : other.microseconds_;
  }

 private:
  static std::uint16_t rounded(duration took) noexcept {
    constexpr std::int64_t most = std::numeric_limits<std::uint16_t>::max();
    return static_cast<std::uint16_t>(
        std::clamp(std::int64_t{std::chrono::ceil<std::chrono::microseconds>(took).count()}, std::int64_t{1}, most));
  }
  std::uint16_t microseconds_ = 0;
};

}  // namespace quintet
