// SPDX-License-Identifier: BSL-1.0
// memory_limits: what may not be.
#include "limits.hpp"

#include "require.hpp"

namespace quintet {

void validate(const memory_limits& l) {
  detail::require_value(l.bounded_socket_buffer >= 0, "bounded_socket_buffer", l.bounded_socket_buffer, "at least 0");
}

}  // namespace quintet
