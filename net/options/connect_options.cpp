// SPDX-License-Identifier: BSL-1.0
// connect_options: validation.
#include "connect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const connect_options& o) {
  using detail::require;
  require(o.timeout >= duration::zero(), "connecting.timeout", "it is negative, zero means no limit");
  require(o.attempt_delay > duration::zero(), "connecting.attempt_delay", "it must be above zero");
  validate(o.socket, "connecting.socket.");
}

}  // namespace quintet
