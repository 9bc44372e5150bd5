// SPDX-License-Identifier: BSL-1.0
// thread_options: what may not be, and what automatic means.
#include "thread_options.hpp"

#include "../base/require.hpp"

namespace quintet {

void validate(const thread_options& o) {
  detail::require_value(o.loops >= 1, "loops", o.loops, "at least 1");
  validate(o.workers);
  validate(o.offload);
  detail::require_value(o.max_threads >= 1, "max_threads", o.max_threads, "at least 1");
}

offload_options offload_options_of(model kind, const thread_options& options) {
  offload_options o = options.offload;
  if (o.policy == offload_policy::automatic)
    o.policy = kind == model::loop_per_thread_pool ? offload_policy::adaptive : offload_policy::always;
  return o;
}

}  // namespace quintet
