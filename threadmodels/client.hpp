// SPDX-License-Identifier: BSL-1.0
// client: outgoing connections, with the handlers and threading models of servers.
#pragma once

#include "../net/client/basic_client.hpp"
#include "../net/connection/stream_session.hpp"  // for coroutine handlers
#include "../net/loop/stop_on_signals.hpp"
#include "compute/model_statistics.hpp"
#include "config.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace quintet {

/// The configuration of a client.
struct client_config {
  // Which model.
  quintet::model model = quintet::model::single_reactor;  ///< the one word that changes the threading
  thread_options threads = {};                            ///< how many loops and workers it has
  engine_kind engine = engine_kind::automatic;            ///< the I/O engine; for model 1 see engine_kind

  // How it connects.
  connect_options connecting = {};                                     ///< time limits, and the socket's buffers
  std::optional<reconnect_options> reconnect = {};                     ///< empty: a lost connection is not made again
  std::function<void(const connect_failure&)> on_connect_failed = {};  ///< see client_options

  // Limits.
  connection_limits limits = {};  ///< of each connection, unless it changes its own
  memory_limits memory = {};      ///< of all connections together

  log_hook log = {};      ///< receives the client's log lines; empty: no log
  loop_tuning loop = {};  ///< of each loop: spinning and buffers
};

/// [any thread] Returns the options of the net layer.
[[nodiscard]] client_options client_options_of(const client_config& c);
/// [any thread] Returns the options of the model.
[[nodiscard]] model_options model_options_of(const client_config& c);

/// `quintet::client c({.model = quintet::model::loop_per_thread}, handler); c.connect("db.example:5432"); c.run();`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp. Its type is
/// no part of the client's.
class client : public basic_client {
 public:
  /// Throws config_error.
  template <class Handler>
  client(const client_config& c, Handler h)
      : basic_client(client_options_of(c), make_model(model_options_of(c)), std::move(h)) {}

  /// [any thread] Returns the statistics of the client, and those of the model's pool and offloading.
  [[nodiscard]] with_compute<client_statistics> statistics() const {
    with_compute<client_statistics> all{basic_client::statistics(), {}};
    model().add_to(all);
    return all;
  }
};

}  // namespace quintet
