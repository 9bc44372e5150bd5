// SPDX-License-Identifier: BSL-1.0
// handler: the addresses of a new connection.
#include "handler.hpp"

#include "../engine/socket_services.hpp"

namespace quintet {

connection_ends detail::ends_of(engine& io, int handle) {
  return {io.sockets().remote_address(handle), io.sockets().local_address(handle)};
}

}  // namespace quintet
