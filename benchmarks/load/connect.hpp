// SPDX-License-Identifier: BSL-1.0
// connect.hpp: resolves names, and opens and resets connections.
#pragma once

#include "load/control.hpp"
#include "options.hpp"
#include "unique_fd.hpp"

#include <cstdint>
#include <string>

namespace quintet::bench {

/// Resolves a host and port, or a path. Throws std::runtime_error, which names the host.
socket_address resolve(const endpoint& where);

/// Returns true for 127.0.0.0/8, where any address of the network can be the source of a connection.
bool is_loopback_v4(const socket_address& address);

/// Returns a connecting socket with TCP_NODELAY, or an empty one with errno set. It is non-blocking, except a Unix
/// socket. `source` above 0 binds to 127.0.0.`source`: each such address has its own 28,000 ports.
unique_fd start_connect(const socket_address& to, unsigned source = 0);

/// Connects and waits for the result. Returns an empty descriptor with errno set on failure. Later sends and receives
/// wait for at most `timeout_ms`, then fail with EAGAIN.
unique_fd connect_blocking(const socket_address& to, int timeout_ms, unsigned source = 0);

/// Returns the result of a connect in progress: 0 or an errno value.
int connect_error(const unique_fd& fd);

/// Closes with a reset instead of a FIN, so that neither side keeps the connection in TIME_WAIT.
void close_with_reset(unique_fd& fd);

}  // namespace quintet::bench
