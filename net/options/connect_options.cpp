// SPDX-License-Identifier: BSL-1.0
// connect_options: validation.
#include "connect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const connect_options& o) {
  using detail::require;
  require(o.timeout >= duration::zero(), "connecting.timeout", "is negative; it must be at least 0 (0 means no limit)");
  require(o.attempt_delay > duration::zero(), "connecting.attempt_delay", "is not positive; it must be above 0");
  validate(o.socket, "connecting.socket.");
}

}  // namespace quintet
