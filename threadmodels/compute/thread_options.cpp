// SPDX-License-Identifier: BSL-1.0
// thread_options: validation.
#include "thread_options.hpp"

#include "../../base/work/spin_budget.hpp"
#include "../../net/options/require.hpp"

namespace quintet {

using detail::require_value;

void validate(const thread_options& o) {
  require_value(o.loops >= 1, "loops", o.loops, "at least 1");
  validate(o.workers);
  require_value(o.helpers <= 4096, "helpers", o.helpers, "at most 4096");
  require_value(o.handshakes <= 1024, "handshakes", o.handshakes, "at most 1024");
  validate(o.offload);
  require_value(o.max_threads >= 1, "max_threads", o.max_threads, "at least 1");
}

void validate(const worker_limits& l) {
  require_value(l.max >= 1, "workers.max", l.max, "at least 1");
  require_value(l.min >= 1, "workers.min", l.min, "at least 1");  // the system may refuse more
  require_value(l.min <= l.max, "workers.min", l.min, "at most workers.max, " + std::to_string(l.max));
  spin_budget::validate(l.spin);
  require_value(l.idle_time > duration::zero(), "workers.idle_time", l.idle_time, "above 0");
  require_value(l.queue_latency >= duration::zero(), "workers.queue_latency", l.queue_latency, "at least 0");
  require_value(l.stuck_time > duration::zero(), "workers.stuck_time", l.stuck_time, "above 0");
  require_value(l.overload_latency >= duration::zero(), "workers.overload_latency", l.overload_latency, "at least 0");
}

void validate(const offload_options& o) {
  require_value(o.threshold >= duration::zero(), "offload.threshold", o.threshold, "at least 0");
  require_value(o.inline_overrun_burst >= duration::zero(), "offload.inline_overrun_burst", o.inline_overrun_burst,
                "at least 0");
  require_value(o.inline_overrun_ratio > 0 && o.inline_overrun_ratio <= 1,  // also refuses NaN
                "offload.inline_overrun_ratio", o.inline_overrun_ratio, "above 0 and at most 1");
}

}  // namespace quintet
