// SPDX-License-Identifier: BSL-1.0
// connect.hpp: names to addresses, and the first steps of a connection.
#pragma once

#include "load/control.hpp"
#include "options.hpp"
#include "unique_fd.hpp"

#include <cstdint>
#include <string>

namespace quintet::bench {

/// Throws std::runtime_error with the host's name in it.
socket_address resolve(const endpoint& where);

/// True for 127.0.0.0/8, where any address of the network can be the source of a connection.
bool is_loopback_v4(const socket_address& address);

/// A socket that is connecting; errno says why there is none. TCP_NODELAY is set. A `source` above 0 makes
/// 127.0.0.source the near end: each such address has its own 28,000 ports.
unique_fd start_connect(const socket_address& to, unsigned source = 0);

/// Connects and waits for it. Sends and receives then wait for at most `timeout_ms`, and fail with EAGAIN. errno says
/// why there is no connection.
unique_fd connect_blocking(const socket_address& to, int timeout_ms, unsigned source = 0);

/// What became of a connection that was in progress: 0 or an errno value.
int connect_error(const unique_fd& fd);

/// Closes with a reset instead of a FIN, so that neither side keeps the connection in TIME_WAIT.
void close_with_reset(unique_fd& fd);

}  // namespace quintet::bench
