// SPDX-License-Identifier: BSL-1.0
// connect_options: the time limits of one attempt to connect, and its socket's options.
#pragma once

#include "../../base/clock.hpp"
#include "limits.hpp"
#include "listen_options.hpp"

#include <chrono>

namespace quintet {

/// The options of one attempt to connect.
struct connect_options {
  duration timeout = std::chrono::seconds(10);              ///< name lookup and connecting together; zero: the system's
  duration attempt_delay = std::chrono::milliseconds(250);  ///< until the next address is tried in parallel
  socket_options socket = {};                               ///< buffers, keep_alive, user_timeout
  /// shared_memory: for a Unix destination, asks its server for shared memory first. Without it, the connection uses
  /// the Unix socket.
  connection_upgrade upgrade = connection_upgrade::none;
};
/// Throws config_error.
void validate(const connect_options& options);

}  // namespace quintet
