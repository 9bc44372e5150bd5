// SPDX-License-Identifier: BSL-1.0
// client_options: how a client connects and reconnects, and the limits of its connections.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "connect_options.hpp"
#include "limits.hpp"
#include "loop_options.hpp"
#include "reconnect_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace quintet {

class engine;

/// Identifies one connect() of a client, with all its attempts and connections. The client never reuses an id.
enum class link_id : std::uint64_t {};

/// A failed attempt to connect.
struct connect_failure {
  link_id link;                   ///< of the failed connect()
  error_code reason;              ///< of the last address that was tried
  unsigned attempt;               ///< attempts since connect(), or since this link's last connection ended
  std::optional<duration> again;  ///< from now to the next attempt; none: the link is finished
};

/// The options of a basic_client.
struct client_options {
  engine_kind engine = engine_kind::automatic;      ///< the main loop's; a model has its own
  connect_options connecting = {};                  ///< time limits of an attempt, and its socket's buffers
  std::optional<reconnect_options> reconnect = {};  ///< none: a link is one attempt, and at most one connection
  /// [loop] The main loop calls it for each failure. It must not block; exceptions are ignored.
  std::function<void(const connect_failure&)> on_connect_failed = {};
  connection_limits limits = {};  ///< of each connection; see connection::set_limits()
  memory_limits memory = {};      ///< of all connections together
  log_hook log = {};              ///< receives the client's log lines; empty: no log
  loop_tuning loop = {};          ///< the main loop's spinning and buffers

  /// For programs that drive the loop by hand. `make_engine` replaces `engine`, `time` is the main loop's clock, and
  /// `seed` starts the random numbers of the reconnect waits.
  std::function<std::unique_ptr<quintet::engine>()> make_engine = {};
  const clock* time = &clock::system();
  std::optional<std::uint64_t> seed = {};
};

/// Throws config_error.
void validate(const client_options& options);

}  // namespace quintet
