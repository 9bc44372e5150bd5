// SPDX-License-Identifier: BSL-1.0
// elastic_policy: when a pool gets another thread, how long an idle one stays, and when there is too much to do. It has
// no threads and no clock, so that every decision can be tried by hand.
#pragma once

#include "model_statistics.hpp"
#include "thread_options.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace quintet {

/// Growing follows the time that work has waited, as in MongoDB's adaptive executor (maxQueueLatencyMicros), one thread
/// at a time. What that executor lacked: a maximum, and a memory. A thread that is missed soon after it has left was
/// sent away too early: the next ones stay twice as long, and leave one by one, with as long a time in between; a
/// quarter less after each one that is not missed. So under a steady load the pool comes to rest, and after a lasting
/// change it follows.
class elastic_policy {
 public:
  static constexpr unsigned most_patience = 64;
  static constexpr duration longest_idle_time = std::chrono::hours(24 * 365);  // what is multiplied must not overflow

  explicit elastic_policy(const worker_limits& limits) noexcept : limits_(limits) {}

  /// Nobody is free. `waited`: how long the oldest item has; `still`: for how long no worker has begun one.
  [[nodiscard]] std::optional<worker_event> growth(time_point now, duration waited, duration still) const noexcept;
  void grew(time_point now) noexcept;
  /// How long an idle thread above the minimum stays.
  [[nodiscard]] duration stay() const noexcept { return std::min(limits_.idle_time, longest_idle_time) * patience_; }
  [[nodiscard]] bool may_leave(time_point now) const noexcept;
  void left(time_point now) noexcept;

  [[nodiscard]] bool is_late(duration waited) const noexcept {
    return limits_.overload_latency > duration::zero() && waited >= limits_.overload_latency;
  }
  /// An item was begun, or looked at, that had waited so long. Something only if that is news.
  std::optional<worker_event> judge_load(duration waited, bool may_grow) noexcept;
  /// From overload_begins to overload_ends.
  [[nodiscard]] bool is_overloaded() const noexcept { return overloaded_; }

 private:
  const worker_limits limits_;
  time_point grew_at_ = time_point::min();
  time_point left_at_ = time_point::min();         // the last one that did
  time_point unmissed_since_ = time_point::min();  // the same, until the pool grows
  unsigned patience_ = 1;
  bool overloaded_ = false;
};

}  // namespace quintet
