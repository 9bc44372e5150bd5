// SPDX-License-Identifier: BSL-1.0
// offload_gauge: what handlers have cost so far, and whether a loop may run the next batch itself.
#pragma once

#include "../options/offload.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace quintet {

/// The cost of a batch, from those before it: it rises at once and falls by an eighth of the difference, so that what
/// was dear once is not taken for cheap soon. In microseconds, rounded up; 65 ms and more are one.
class handler_cost {
 public:
  [[nodiscard]] bool is_known() const noexcept { return microseconds_ > 0; }
  [[nodiscard]] duration value() const noexcept { return std::chrono::microseconds(microseconds_); }
  void add(duration took) noexcept {
    const auto sample = rounded(took);
    if (sample >= microseconds_)
      microseconds_ = sample;
    else
      microseconds_ = static_cast<std::uint16_t>(microseconds_ - (microseconds_ - sample + 7) / 8);
  }
  /// Both ways alike, for the cost of what many connections have in common.
  void blend(handler_cost other) noexcept {
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

/// One for each loop. The bound on what its mistakes cost is a leaky bucket, kept as the time at which it will be empty
/// (the generic cell rate algorithm, ITU-T I.371).
class offload_gauge {
 public:
  enum class verdict : std::uint8_t {
    here,       ///< it is cheap
    unknown,    ///< nothing is known of it yet
    dear,       ///< it costs more than the threshold
    held_back,  ///< it seems cheap, but too much that seemed so was not
  };

  /// [loop] Of a batch of a connection whose batches have cost so much. `now` is called only when it matters.
  template <class Now>
  [[nodiscard]] verdict judge(handler_cost cost, const offload_options& o, Now now) noexcept {
    if (cost.is_known())
      usual_.blend(cost);
    else
      cost = usual_;
    if (!cost.is_known()) return verdict::unknown;
    if (cost.value() > o.threshold) return verdict::dear;
    if (empty_at_ == time_point()) [[likely]]
      return verdict::here;
    const duration left = empty_at_ - now();
    if (left <= duration::zero()) empty_at_ = time_point();
    return static_cast<double>(left.count()) * o.harm_share > static_cast<double>(o.harm_burst.count())
               ? verdict::held_back
               : verdict::here;
  }

  /// [loop] A batch that was run here has cost more than the threshold.
  void misjudged(duration took, const offload_options& o, time_point now) noexcept {
    const auto takes = static_cast<double>(took.count()) / o.harm_share;
    // Not beyond a year: a tiny share and a long batch must not overflow.
    const duration longest = std::chrono::hours(24 * 365);
    const duration until_empty =
        takes < static_cast<double>(longest.count()) ? duration(static_cast<duration::rep>(takes)) : longest;
    empty_at_ = std::min(std::max(empty_at_, now) + until_empty, now + longest);
  }

 private:
  handler_cost usual_;
  time_point empty_at_{};
};

}  // namespace quintet
