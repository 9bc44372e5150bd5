// SPDX-License-Identifier: BSL-1.0
// client: connections to others, under the handlers and the threading models that servers have.
#pragma once

#include "../net/client/basic_client.hpp"
#include "../net/loop/stop_on_signals.hpp"
#include "any_model.hpp"
#include "compute/model_statistics.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace quintet {

struct client_config {
  // Which model.
  quintet::model model = quintet::model::single_reactor;  ///< the one word that changes the threading
  thread_options threads = {};                            ///< how many loops and workers it has
  engine_kind engine = engine_kind::automatic;            ///< what moves bytes; not those of model 1, see engine_kind

  // How it connects.
  connect_options connecting = {};                                     ///< time limits, and the socket's buffers
  std::optional<reconnect_options> reconnect = {};                     ///< none: a lost connection is not made again
  std::function<void(const connect_failure&)> on_connect_failed = {};  ///< see client_options

  // Limits.
  connection_limits limits = {};  ///< of each connection, unless it changes its own
  memory_limits memory = {};      ///< of all connections together

  log_hook log = {};      ///< what the client has to say; nothing, unless there is one
  loop_tuning loop = {};  ///< of each loop: spinning, and buffers made in advance
};

/// [any thread] What the net layer is told of it, group by group.
[[nodiscard]] client_options client_options_of(const client_config& c);

/// `quintet::client c({.model = quintet::model::loop_per_thread}, handler); c.connect("db.example:5432"); c.run();`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp.
template <handler_or_factory Handler>
class client : public basic_client<any_model, Handler> {
 public:
  client(const client_config& c, Handler h)
      : basic_client<any_model, Handler>(client_options_of(c), any_model({c.model, c.threads, c.engine, c.loop}),
                                         std::move(h)) {}
  /// [any thread] With what the model's pool and its loops' offloading have counted.
  [[nodiscard]] with_compute<client_statistics> statistics() const {
    return {basic_client<any_model, Handler>::statistics(), this->model().offloads(), this->model().workers()};
  }
};

}  // namespace quintet
