// SPDX-License-Identifier: BSL-1.0
// inline_policy: decides whether a loop runs the next batch itself, and bounds the cost of wrong predictions.
#pragma once

#include "../../base/clock.hpp"
#include "../../net/loop/thread_model.hpp"
#include "model_statistics.hpp"
#include "thread_options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace quintet {

/// One for each loop. The bound on overruns is a leaky bucket, stored as the time when it will be empty (the generic
/// cell rate algorithm, ITU-T I.371).
class inline_policy final : public inline_gate {
 public:
  inline_policy(const clock& time, const offload_options& options) noexcept
      : inline_gate(options.threshold, counters_.batches_inline), time_(time), options_(options) {}

  /// [loop] Returns whether the loop should run a batch itself. `cost`: the cost of the connection's recent batches.
  [[nodiscard]] bool runs_inline(work_cost cost) noexcept {
    if (cost.is_known())
      usual_.blend(cost);
    else
      cost = usual_;
    if (!limit_.is_cheap(cost)) [[unlikely]]
      return count(cost.is_known() ? counters_.offloads_expensive : counters_.offloads_unknown);
    if (holds_back_ && is_held_back()) [[unlikely]]
      return count(counters_.offloads_held_back);
    admitted_.add();
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
    holds_back_ = left > duration::zero();
    return static_cast<double>(left.count()) * options_.inline_overrun_ratio >
           static_cast<double>(options_.inline_overrun_burst.count());
  }
  void overrun(duration took) noexcept override {
    const time_point now = time_.now();
    counters_.mispredicted.add();
    counters_.mispredicted_ns.add(static_cast<std::uint64_t>(took / std::chrono::nanoseconds(1)));
    const auto takes = static_cast<double>(took.count()) / options_.inline_overrun_ratio;
    // At most a year: a tiny ratio and a long batch must not overflow.
    const duration longest = std::chrono::hours(24 * 365);
    const duration until_empty =
        takes < static_cast<double>(longest.count()) ? duration(static_cast<duration::rep>(takes)) : longest;
    // Counts from the start of the batch: the bucket leaks while the batch runs.
    empty_at_ = std::min(std::max(empty_at_, now - took) + until_empty, now + longest);
    holds_back_ = true;
  }

  const clock& time_;
  const offload_options options_;
  time_point empty_at_{};
  offload_counters counters_;
};

}  // namespace quintet
