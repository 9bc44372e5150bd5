// SPDX-License-Identifier: BSL-1.0
// connection_pool_options: what cannot be.
#include "connection_pool_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const connection_pool_options& o) {
  detail::require_value(o.max >= 1, "pool.max", o.max, "at least 1");
  detail::require_value(o.idle_timeout >= duration::zero(), "pool.idle_timeout", o.idle_timeout,
                        "at least 0 (0 keeps idle connections open)");
  validate(o.connecting);
  detail::require(o.connecting.upgrade == connection_upgrade::none, "pool.connecting.upgrade",
                  "is shared_memory; it must be none because a pool lends sockets");
  detail::require(!o.connecting.tls, "pool.connecting.tls", "is set; it must be null because a pool lends sockets");
}

}  // namespace quintet
