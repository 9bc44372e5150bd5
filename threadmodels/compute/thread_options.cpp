// SPDX-License-Identifier: BSL-1.0
// thread_options: validation.
#include "thread_options.hpp"

#include "../../base/work/spin_budget.hpp"
#include "../../net/options/require.hpp"

namespace quintet {

using detail::require, detail::require_value;

void validate(const thread_options& o) {
  require_value(o.loops >= 1, "loops", o.loops, "at least 1");
  validate(o.workers);
  validate(o.offload);
  require_value(o.max_threads >= 1, "max_threads", o.max_threads, "at least 1");
}

void validate(const worker_limits& l) {
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

void validate(const offload_options& o) {
  require(o.threshold >= duration::zero(), "offload.threshold", "is negative; it must be at least 0");
  require(o.inline_overrun_burst >= duration::zero(), "offload.inline_overrun_burst",
          "is negative; it must be at least 0");
  require(o.inline_overrun_ratio > 0 && o.inline_overrun_ratio <= 1,
          "offload.inline_overrun_ratio",  // also refuses NaN
          "is out of range; it must be above 0 and at most 1");
}

}  // namespace quintet
