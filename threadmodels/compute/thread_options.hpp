// SPDX-License-Identifier: BSL-1.0
// thread_options: how many threads a model has, and which batches its pool runs.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <thread>

namespace quintet {

/// How many threads a pool has, when one is added or ends, and how long work may wait.
struct worker_limits {
  unsigned min = 1;  ///< threads that never end; at least 1
  unsigned max = 4;  ///< threads; at least `min`
  /// The longest time that an idle worker looks for work before it sleeps, while that pays; one worker at a time. If
  /// the process may use one CPU only, workers sleep at once.
  duration spin = duration::zero();
  /// An idle worker above `min` ends after this time, plus or minus a tenth, so that not all end at once. If a thread
  /// must be added again soon, this time doubles, to at most elastic_policy::max_idle_factor times its value.
  duration idle_time = std::chrono::seconds(5);
  /// A thread is added when work has waited this long, and another one each time this passes again. Zero: a thread is
  /// added whenever no worker is free.
  duration queue_latency = std::chrono::microseconds(500);
  /// A thread is added when work waits and no worker has begun an item for this time, even if queue_latency is longer.
  duration stuck_time = std::chrono::milliseconds(250);
  /// Work that has waited this long with `max` threads is not run if its handler has on_overload, which is called
  /// instead. Zero: work waits without a limit.
  duration overload_latency = std::chrono::milliseconds(500);
};

/// Selects the batches that go to the pool of reactor_pool and loop_per_thread_pool. Other models have no pool.
enum class offload_policy {
  automatic,  ///< adaptive in loop_per_thread_pool and in run_adaptive, always in reactor_pool
  always,     ///< callback handlers never run on a loop, so they may block
  adaptive,   ///< the loop runs a batch that is predicted to cost less than its handoff to the pool
};

template <>
inline constexpr auto enum_names<offload_policy> =
    std::to_array<enum_name<offload_policy>>({{offload_policy::automatic, "automatic"},
                                              {offload_policy::always, "always"},
                                              {offload_policy::adaptive, "adaptive"}});

/// The cost of a batch is predicted from earlier batches of its connection, or of its loop for a new connection. A
/// prediction can be wrong: a handler that was always cheap waits for a lock and delays all connections of its loop.
/// Its connection's next batch then goes to the pool. The time lost is bounded: in any time t a loop loses at most
/// `inline_overrun_burst + inline_overrun_ratio * t`, plus the one batch that exceeds it.
struct offload_options {
  offload_policy policy = offload_policy::automatic;              ///< which batches go to the pool
  duration threshold = std::chrono::microseconds(20);             ///< a batch that takes longer is expensive
  double inline_overrun_ratio = 0.005;                            ///< above 0, at most 1; 1: no bound
  duration inline_overrun_burst = std::chrono::milliseconds(10);  ///< not below 0
};

/// Each model uses some of these. All must be valid.
struct thread_options {
  unsigned loops = std::max(1u, std::thread::hardware_concurrency());  ///< models 4 and 5: sub-reactors
  worker_limits workers = {};    ///< model 3: `max` threads; model 5: `min` to `max`
  offload_options offload = {};  ///< models 3 and 5: which batches go to these threads
  unsigned helpers = 0;          ///< models 2 and 4: threads for the functions of offload(), else on their loop
  /// At most so many threads compute TLS handshakes; they start when they are needed. 0: the loops compute them.
  unsigned handshakes = std::clamp(std::thread::hardware_concurrency() / 2, 1u, 8u);
  std::size_t max_threads = 4096;  ///< model 1: threads, so open connections
};

/// [any thread] Throw config_error.
void validate(const worker_limits& limits);
void validate(const offload_options& options);
void validate(const thread_options& options);

}  // namespace quintet
