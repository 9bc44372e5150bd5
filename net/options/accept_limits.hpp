// SPDX-License-Identifier: BSL-1.0
// accept_limits: how many connections a server takes, from whom, and how fast.
#pragma once

#include "../../base/error.hpp"
#include "../names/address.hpp"

#include <cstddef>
#include <functional>

namespace quintet {

/// Limits of the connections from ordinary listeners. The priority loop has its own limit,
/// priority_options::max_connections.
struct accept_limits {
  /// Open connections. At the limit the server stops accepting until one has closed. Meanwhile new connections wait in
  /// the listener's backlog and are not refused. 0: no limit.
  std::size_t max_connections = 0;
  /// Open connections from one IPv4 address or one IPv6 network of 64 bits. One more is accepted, closed at once, and
  /// counted as refused. Unix peers have no address. 0: no limit.
  std::size_t max_connections_per_address = 0;
  /// Connections accepted per second; the others wait in the backlog. 0: no limit.
  unsigned accept_rate = 0;
  /// Connections accepted at once after a quiet time. 0: the connections of one second at accept_rate.
  unsigned accept_burst = 0;
  /// [loop] The accepting loop calls it for each refused connection, and closes the connection afterwards. Several
  /// loops call it concurrently if several accept (see accept_strategy). It must not block; exceptions are ignored.
  /// Reasons: errc::too_many_from_address, errc::too_many_threads (model 1), the system's error when it refuses to
  /// start a thread, and errc::not_placed for other exceptions of a thread model.
  std::function<void(error_code reason, const address& from)> on_refused = {};
};

/// Throws config_error.
void validate(const accept_limits& limits);

}  // namespace quintet
