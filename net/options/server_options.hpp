// SPDX-License-Identifier: BSL-1.0
// server_options: options of a basic_server: where it listens, its limits, and advanced settings.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/log.hpp"
#include "advanced_options.hpp"
#include "limits.hpp"
#include "listen_options.hpp"
#include "loop_options.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace quintet {

class engine;

/// The options of a basic_server.
struct server_options {
  /// At least one without `priority`. Empty: the server has only connections of attach().
  std::vector<listen_options> listen = default_listeners();
  engine_kind engine = engine_kind::automatic;  ///< of the main loop and the priority loop; a model has its own
  connection_limits limits = {};                ///< of each connection, unless the connection sets its own
  accept_limits accepting = {};                 ///< how many connections, from whom, how fast
  memory_limits memory = {};                    ///< of all connections together
  log_hook log = {};                            ///< receives the server's log; without it nothing is logged
  advanced_options advanced = {};               ///< `loop` in it applies to the main loop and the priority loop

  /// For loops that a test drives: the main loop's engine, which replaces `engine`, and its clock.
  std::function<std::unique_ptr<quintet::engine>()> make_engine = {};
  const clock* time = &clock::system();
};

/// [any thread] Throws config_error.
void validate(const server_options& options);

}  // namespace quintet
