// SPDX-License-Identifier: BSL-1.0
// connect_options: the time limits of one attempt to connect, and its socket's options.
#pragma once

#include "../../base/clock.hpp"
#include "limits.hpp"
#include "listen_options.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace quintet {

/// The options of one attempt to connect.
struct connect_options {
  duration timeout = std::chrono::seconds(10);  ///< name lookup, connecting and `tls` together; zero: the system's
  /// TLS for each connection: a tls_client_context, which many clients may share. Null: plain. IP addresses and host
  /// names only. A handshake has 10 s at most. See doc/tls.md.
  std::shared_ptr<handshake_source> tls = {};
  socket_options socket = {};  ///< buffers, keep_alive, user_timeout
  /// shared_memory: for a Unix destination, asks its server for shared memory first. Without it, the connection uses
  /// the Unix socket.
  connection_upgrade upgrade = connection_upgrade::none;
  /// [loop] Unix destinations only: decides on the server by its process, user and group (SO_PEERCRED), before a byte
  /// is sent or received. Attempts to reach others fail with EACCES, attempts at IP addresses with EOPNOTSUPP; for
  /// example is_own_user. Empty: any server. But memory is taken only from this user, from root, or from the user that
  /// has the destination's own name.
  std::function<bool(const peer_credentials&)> may_be_server = {};
};
/// Throws config_error.
void validate(const connect_options& options);

}  // namespace quintet
