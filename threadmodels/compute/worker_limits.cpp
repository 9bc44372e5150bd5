// SPDX-License-Identifier: BSL-1.0
// worker_limits: validation.
#include "worker_limits.hpp"

#include "../../base/work/spin_budget.hpp"
#include "../../net/options/require.hpp"

namespace quintet {

void validate(const worker_limits& l) {
  using detail::require, detail::require_value;
  require_value(l.max >= 1, "workers.max", l.max, "at least 1");
  require_value(l.min >= 1, "workers.min", l.min, "at least 1");  // no upper limit: the system may refuse threads
  require(l.min <= l.max, "workers",
          "min " + std::to_string(l.min) + " is above max " + std::to_string(l.max) + ", it must not be");
  spin_budget::validate(l.spin);
  require(l.idle_time > duration::zero(), "workers.idle_time", "it must be above zero");
  require(l.queue_latency >= duration::zero(), "workers.queue_latency", "it must not be below zero");
  require(l.stuck_time > duration::zero(), "workers.stuck_time", "it must be above zero");
  require(l.overload_latency >= duration::zero(), "workers.overload_latency", "it must not be below zero");
}

}  // namespace quintet
