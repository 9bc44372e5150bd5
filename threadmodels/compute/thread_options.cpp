// SPDX-License-Identifier: BSL-1.0
// thread_options: validation.
#include "thread_options.hpp"

#include "../../net/options/require.hpp"

namespace quintet {

void validate(const thread_options& o) {
  detail::require_value(o.loops >= 1, "loops", o.loops, "at least 1");
  validate(o.workers);
  validate(o.offload);
  detail::require_value(o.max_threads >= 1, "max_threads", o.max_threads, "at least 1");
}

}  // namespace quintet
