// SPDX-License-Identifier: BSL-1.0
// handler: the addresses of a new connection.
#include "handler.hpp"

#include "../engine/socket_services.hpp"

namespace quintet {

connection_ends detail::ends_of(engine& io, const stream_handle& stream) {
  if (stream.facts().told) return *stream.facts().told;
  return io.sockets().ends(stream.get());
}

}  // namespace quintet
