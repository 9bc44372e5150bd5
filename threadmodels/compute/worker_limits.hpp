// SPDX-License-Identifier: BSL-1.0
// worker_limits: how many threads a pool has, when it gets another one and when one leaves, and how long work may wait.
#pragma once

#include "../../base/clock.hpp"

#include <chrono>

namespace quintet {

struct worker_limits {
  unsigned min = 1;  ///< threads that are always there; at least 1
  unsigned max = 4;  ///< and that there may be; at least `min`, at least 1
  /// How long a worker looks for work before it sleeps, while that pays; one at a time. Where the process may use one
  /// CPU only, workers sleep at once.
  duration spin = duration::zero();
  /// After which a worker above `min` leaves, a tenth more or less, so that they do not all leave at once. If one is
  /// missed soon after it has left, this time is doubled, up to elastic_policy::most_patience times.
  duration idle_time = std::chrono::seconds(5);
  /// So long work may wait for a worker; then a thread is added, and another one if after the same time it still waits.
  /// Zero: one is added whenever nobody is free.
  duration queue_latency = std::chrono::microseconds(500);
  /// Where queue_latency is longer: a thread is added when so long no worker has begun anything, and work waits.
  duration stuck_time = std::chrono::milliseconds(250);
  /// What has waited so long with `max` threads is not begun any more, if its handler has on_overload, which is called
  /// instead. Zero: everything waits as long as it has to.
  duration overload_latency = std::chrono::milliseconds(500);
};

/// Throws config_error.
void validate(const worker_limits& limits);

}  // namespace quintet
