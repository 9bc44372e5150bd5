// SPDX-License-Identifier: BSL-1.0
// accept_limits: how many connections a server takes, from whom, and how fast.
#pragma once

#include "../../base/error.hpp"
#include "../names/address.hpp"

#include <cstddef>
#include <functional>

namespace quintet {

/// They hold for what comes through the ordinary listeners; the priority loop is not counted, and has a limit of its
/// own, priority_options::max_connections.
struct accept_limits {
  /// Open connections. At the limit the server stops accepting until one has left: who comes then waits in the
  /// listener's backlog, and is not refused. 0: no limit.
  std::size_t max_connections = 0;
  /// Open connections from one IPv4 address or one IPv6 network of 64 bits. One more is accepted, closed at once, and
  /// counted as refused. Unix peers have no address. 0: no limit.
  std::size_t max_connections_per_address = 0;
  /// Connections accepted a second; the others wait in the backlog. 0: no limit.
  unsigned accept_rate = 0;
  /// Connections accepted at once after a quiet time. 0: as many as come in a second at accept_rate.
  unsigned accept_burst = 0;
  /// [loop] Called for each refused connection, which is closed when this returns, by the loop that accepts; by several
  /// at once where several do (see accept_strategy). It must not block; what it throws is ignored. Reasons:
  /// errc::too_many_from_address, errc::too_many_threads (model 1), what the system says when it starts no more
  /// threads, and errc::not_placed for other exceptions of a thread model.
  std::function<void(error_code reason, const address& from)> on_refused = {};
};

/// Throws config_error.
void validate(const accept_limits& limits);

}  // namespace quintet
