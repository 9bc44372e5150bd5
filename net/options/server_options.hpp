// SPDX-License-Identifier: BSL-1.0
// server_options: what a basic_server is told: where it listens, its limits, and what most servers leave alone.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/log.hpp"
#include "accept_limits.hpp"
#include "advanced_options.hpp"
#include "connection_limits.hpp"
#include "engine_kind.hpp"
#include "listen_options.hpp"
#include "memory_limits.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace quintet {

class engine;

struct server_options {
  std::vector<listen_options> listen = default_listeners();  ///< at least one that is not for the priority loop
  engine_kind engine = engine_kind::automatic;  ///< of the main loop and the priority loop; a model has its own
  connection_limits limits = {};                ///< of each connection, unless it changes its own
  accept_limits accepting = {};                 ///< how many connections, from whom, how fast
  memory_limits memory = {};                    ///< of all connections together
  log_hook log = {};                            ///< what the server has to say; nothing, unless there is one
  advanced_options advanced = {};               ///< its `loop` is that of the main loop and the priority loop

  /// For loops that are driven by hand: the main loop's clock, and its engine where `engine` does not say it.
  std::function<std::unique_ptr<quintet::engine>()> make_engine = {};
  const clock* time = &clock::system();
};

/// [any thread] Throws config_error.
void validate(const server_options& options);

}  // namespace quintet
