// SPDX-License-Identifier: BSL-1.0
// worker_limits: what may not be.
#include "worker_limits.hpp"

#include "../../base/work/spin_budget.hpp"
#include "../../net/options/require.hpp"

namespace quintet {

void validate(const worker_limits& l) {
  using detail::require, detail::require_value;
  require_value(l.max >= 1, "workers.max", l.max, "at least 1");
  require_value(l.min >= 1, "workers.min", l.min, "at least 1");  // the system may refuse more
  require(l.min <= l.max, "workers.min",
          "is " + std::to_string(l.min) + "; it must be at most workers.max, " + std::to_string(l.max));
  spin_budget::validate(l.spin);
  require(l.idle_time > duration::zero(), "workers.idle_time", "is not positive; it must be above 0");
  require(l.queue_latency >= duration::zero(), "workers.queue_latency", "is negative; it must be at least 0");
  require(l.stuck_time > duration::zero(), "workers.stuck_time", "is not positive; it must be above 0");
  require(l.overload_latency >= duration::zero(), "workers.overload_latency", "is negative; it must be at least 0");
}

}  // namespace quintet
