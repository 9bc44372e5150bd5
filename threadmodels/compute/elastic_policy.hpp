// SPDX-License-Identifier: BSL-1.0
// elastic_policy: when a pool adds a thread, how long an idle thread stays, and when the pool is overloaded. It has no
// threads and no clock, so a test can drive every decision.
#pragma once

#include "model_statistics.hpp"
#include "thread_options.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace quintet {

/// The pool grows by one thread at a time, depending on how long work has waited, as in MongoDB's adaptive executor
/// (maxQueueLatencyMicros). In contrast to that executor, it has a maximum, and learns from threads that left too
/// early.
///
/// A thread left too early if the pool grows soon afterwards. Then the factor of the idle time doubles: idle threads
/// stay twice as long, and leave one by one, with as long a time in between. Each leaving without such growth reduces
/// it by a quarter. So the pool's size settles under a steady load, and follows a lasting change.
class elastic_policy {
 public:
  static constexpr unsigned max_idle_factor = 64;
  static constexpr duration longest_idle_time = std::chrono::hours(24 * 365);  // so that idle_time() cannot overflow

  explicit elastic_policy(const worker_limits& limits) noexcept : limits_(limits) {}

  /// Returns the reason to add a thread while no worker is free, or nothing. `waited`: how long the oldest item has
  /// waited. `no_progress`: the time since a worker last began an item.
  [[nodiscard]] std::optional<worker_event> growth(time_point now, duration waited,
                                                   duration no_progress) const noexcept;
  void note_growth(time_point now) noexcept;
  /// Returns how long an idle thread above the minimum stays.
  [[nodiscard]] duration idle_time() const noexcept {
    return std::min(limits_.idle_time, longest_idle_time) * idle_factor_;
  }
  [[nodiscard]] bool may_leave(time_point now) const noexcept;
  void note_leaving(time_point now) noexcept;

  [[nodiscard]] bool is_late(duration waited) const noexcept {
    return limits_.overload_latency > duration::zero() && waited >= limits_.overload_latency;
  }
  /// Takes the wait of an item. Returns an event only if an overload begins or ends with it.
  std::optional<worker_event> update_load(duration waited, bool may_grow) noexcept;
  /// Returns whether an overload has begun and not ended.
  [[nodiscard]] bool is_overloaded() const noexcept { return overloaded_; }

 private:
  const worker_limits limits_;
  time_point grew_at_ = time_point::min();
  time_point left_at_ = time_point::min();  // when a thread last left
  // When a thread last left; reset by growth, so each departure doubles the idle time at most once.
  time_point unmissed_since_ = time_point::min();
  unsigned idle_factor_ = 1;
  bool overloaded_ = false;
};

}  // namespace quintet
