// SPDX-License-Identifier: BSL-1.0
// connect_options: validation.
#include "connect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const connect_options& o) {
  using detail::require_value;
  require_value(o.timeout >= duration::zero(), "connecting.timeout", o.timeout, "at least 0 (0 means no limit)");
  require_value(o.attempt_delay > duration::zero(), "connecting.attempt_delay", o.attempt_delay, "above 0");
  validate(o.socket, "connecting.socket.");
}

}  // namespace quintet
