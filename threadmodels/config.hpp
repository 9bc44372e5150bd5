// SPDX-License-Identifier: BSL-1.0
// config: the options of a server: where to listen, which threading model, which limits.
#pragma once

#include "../net/options/server_options.hpp"
#include "compute/thread_options.hpp"
#include "model.hpp"
#include "placement/placement_options.hpp"

#include <memory>
#include <vector>

namespace quintet {

class model_interface;

/// The configuration of a server.
struct config {
  /// [any thread] Returns the config for a server that strangers can reach: each resource of a peer and each wait for a
  /// peer has a limit. doc/limits.md lists the values and their reasons. Each element of `listen` gets
  /// socket.keep_alive and socket.user_timeout, unless it sets its own. In contrast, `config{}` has no time limits, and
  /// its sizes suit trusted peers.
  [[nodiscard]] static config public_defaults(std::vector<listen_options> listen = default_listeners());

  /// [any thread] Returns the config for sessions, such as those of a database: a client may be silent for hours, read
  /// a long result at its own pace, or stop in the middle of a message. Memory, the number of connections and the time
  /// until the first byte are limited, and keep_alive finds clients that have vanished. For strangers set the limits of
  /// public_defaults() until a client has logged in; see doc/limits.md.
  [[nodiscard]] static config session_defaults(std::vector<listen_options> listen = default_listeners());

  // Where.
  std::vector<listen_options> listen = default_listeners();  ///< see listen_options.hpp

  // Which model.
  quintet::model model = default_model();       ///< the one word that changes the threading
  thread_options threads = {};                  ///< how many loops and workers it has
  engine_kind engine = engine_kind::automatic;  ///< the I/O engine; for model 1 see engine_kind

  // Limits.
  connection_limits limits = {};  ///< of each connection, unless it changes its own
  accept_limits accepting = {};   ///< how many connections, from whom, how fast
  memory_limits memory = {};      ///< of all connections together

  log_hook log = {};  ///< receives the server's log lines; empty: no log

  // Most servers leave these alone.
  placement_options placement = {};  ///< models 4 and 5: which loop gets a connection, and which CPU a loop
  advanced_options advanced = {};    ///< accept strategy, priority loop, heartbeats, rebalancing, stalls, tuning
};

/// What the five models are made of, for servers and for clients.
struct model_options {
  model kind = model::loop_per_thread;          ///< which of the five
  thread_options threads = {.loops = 1};        ///< how many loops and workers it has
  engine_kind engine = engine_kind::automatic;  ///< the I/O engine
  loop_tuning loop = {};                        ///< of the model's own loops
  placement_options placement = {};             ///< models 4 and 5
};

/// [any thread] Makes one of the five models. Throws config_error.
[[nodiscard]] std::unique_ptr<model_interface> make_model(const model_options& options);

/// [any thread] Returns the options of the net layer.
[[nodiscard]] server_options server_options_of(const config& c);
/// [any thread] Returns the options of the model. Throws config_error.
[[nodiscard]] model_options model_options_of(const config& c);

}  // namespace quintet
