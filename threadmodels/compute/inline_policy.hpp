// SPDX-License-Identifier: BSL-1.0
// inline_policy: whether a loop runs the next batch itself, and what its wrong predictions have cost so far.
#pragma once

#include "../../base/clock.hpp"
#include "cost_limit.hpp"
#include "model_statistics.hpp"
#include "thread_options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace quintet {

/// One for each loop. The bound on overruns is a leaky bucket, kept as the time at which it will be empty (the generic
/// cell rate algorithm, ITU-T I.371).
class inline_policy {
 public:
  inline_policy(const clock& time, const offload_options& options) noexcept
      : time_(time), options_(options), limit_(options.threshold) {}

  /// [loop] Classifies a batch of a connection whose last batches have cost so much. True: the loop should run it.
  [[nodiscard]] bool runs_inline(work_cost cost) noexcept {
    if (cost.is_known())
      usual_.blend(cost);
    else
      cost = usual_;
    if (!limit_.is_cheap(cost)) [[unlikely]]
      return count(cost.is_known() ? counters_.offloads_expensive : counters_.offloads_unknown);
    if (empty_at_ != time_point() && is_held_back()) [[unlikely]]
      return count(counters_.offloads_held_back);
    counters_.batches_inline.add();
    return true;
  }

  /// [loop] A batch that the loop ran itself took so long. Returns whether that was an overrun, which is accounted now.
  bool account(duration took) noexcept {
    if (took <= options_.threshold) [[likely]]
      return false;
    account_overrun(took, time_.now());
    return true;
  }

  /// [any thread]
  [[nodiscard]] const offload_counters& counters() const noexcept { return counters_; }

 private:
  static bool count(counter& reason) noexcept {
    reason.add();
    return false;
  }
  [[nodiscard]] bool is_held_back() noexcept {
    const duration left = empty_at_ - time_.now();
    if (left <= duration::zero()) empty_at_ = time_point();
    return static_cast<double>(left.count()) * options_.inline_overrun_ratio >
           static_cast<double>(options_.inline_overrun_burst.count());
  }
  [[gnu::noinline]] void account_overrun(duration took, time_point now) noexcept {
    counters_.mispredicted.add();
    counters_.mispredicted_ns.add(static_cast<std::uint64_t>(took / std::chrono::nanoseconds(1)));
    const auto takes = static_cast<double>(took.count()) / options_.inline_overrun_ratio;
    // Not beyond a year: a tiny ratio and a long batch must not overflow.
    const duration longest = std::chrono::hours(24 * 365);
    const duration until_empty =
        takes < static_cast<double>(longest.count()) ? duration(static_cast<duration::rep>(takes)) : longest;
    // From the beginning of the batch: the bucket leaks while the batch runs.
    empty_at_ = std::min(std::max(empty_at_, now - took) + until_empty, now + longest);
  }

  const clock& time_;
  const offload_options options_;
  const cost_limit limit_;
  work_cost usual_;
  time_point empty_at_{};
  offload_counters counters_;
};

}  // namespace quintet
