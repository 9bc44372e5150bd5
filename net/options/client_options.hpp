// SPDX-License-Identifier: BSL-1.0
// client_options: how a client connects, whether it does so again, and the limits of its connections.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "connect_options.hpp"
#include "connection_limits.hpp"
#include "engine_kind.hpp"
#include "loop_options.hpp"
#include "memory_limits.hpp"
#include "reconnect_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace quintet {

class engine;

/// Names one connect() of a client, with all its attempts and connections. Never used again by that client.
enum class link_id : std::uint64_t {};

/// An attempt that has led to no connection.
struct connect_failure {
  link_id link;
  error_code reason;
  unsigned attempt;               ///< how many this link has made since it began, or since a connection last came about
  std::optional<duration> again;  ///< from now to the next attempt; none: the link is over
};

struct client_options {
  engine_kind engine = engine_kind::automatic;      ///< of the main loop; a model has its own
  connect_options connecting = {};                  ///< time limits of an attempt, and its socket's buffers
  std::optional<reconnect_options> reconnect = {};  ///< none: a link is one attempt, and at most one connection
  /// [loop] The main loop's. Called for each failure; must not block. What it throws is ignored.
  std::function<void(const connect_failure&)> on_connect_failed = {};
  connection_limits limits = {};  ///< of each connection, unless it changes its own
  memory_limits memory = {};      ///< of all connections together
  log_hook log = {};              ///< what the client has to say; nothing, unless there is one
  loop_tuning loop = {};          ///< of the main loop: spinning, and buffers made in advance

  /// For loops that are driven by hand: the main loop's engine, where `engine` does not say it, its clock, and what the
  /// waits are drawn from.
  std::function<std::unique_ptr<quintet::engine>()> make_engine = {};
  const clock* time = &clock::system();
  std::optional<std::uint64_t> seed = {};
};

/// Throws config_error.
void validate(const client_options& options);

}  // namespace quintet
