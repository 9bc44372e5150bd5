// SPDX-License-Identifier: BSL-1.0
// server: the server for users. One config says where to listen and which threading model to use.
#pragma once

#include "../net/connection/stream_session.hpp"  // for coroutine handlers
#include "../net/loop/stop_on_signals.hpp"
#include "../net/server/basic_server.hpp"
#include "compute/model_statistics.hpp"
#include "config.hpp"

#include <utility>

namespace quintet {

/// A server without the type of its handler, for functions that take any: `void serve(quintet::any_server& s)`. Only
/// `server` makes one.
class any_server : public model_server<any_model> {
 public:
  /// [any thread] Returns the statistics of the server, and those of the model's pool and offloading.
  [[nodiscard]] with_compute<server_statistics> statistics() const {
    return {model_server<any_model>::statistics(), model().offloads(), model().workers()};
  }

 protected:
  using model_server<any_model>::model_server;
  ~any_server() override = default;
};

/// `quintet::server srv({.listen = {"0.0.0.0:7007"}, .model = quintet::model::reactor_pool}, handler);`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp.
template <class Handler>
class server : public detail::handler_server<any_server, detail::checked_handler<Handler>> {
 public:
  /// Listens at once. Throws config_error, and boost::system::system_error (a port in use).
  server(const config& c, Handler h)
      : detail::handler_server<any_server, detail::checked_handler<Handler>>(
            server_options_of(c), any_model(model_options_of(c)), std::move(h)) {}
};

}  // namespace quintet
