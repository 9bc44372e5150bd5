// SPDX-License-Identifier: BSL-1.0
// connect_options: validation.
#include "connect_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const connect_options& o) {
  using detail::require_value;
  require_value(o.timeout >= duration::zero(), "connecting.timeout", o.timeout, "at least 0 (0 means no limit)");
  validate(o.socket, "connecting.socket.");
  detail::require(!o.tls || o.upgrade == connection_upgrade::none, "connecting.upgrade",
                  "is shared_memory; it must be none because tls is set");
  detail::require(!o.tls || !o.may_be_server, "connecting.may_be_server",
                  "is set; it must be empty because tls is set, which verifies the server by its certificate");
}

}  // namespace quintet
