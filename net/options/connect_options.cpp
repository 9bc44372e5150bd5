// SPDX-License-Identifier: BSL-1.0
// connect_options: validation.
#include "connect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const connect_options& o) {
  using detail::require_value;
  require_value(o.timeout >= duration::zero(), "connecting.timeout", o.timeout, "at least 0 (0 means no limit)");
  validate(o.socket, "connecting.socket.");
}

}  // namespace quintet
