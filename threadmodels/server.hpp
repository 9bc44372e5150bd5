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

/// `quintet::server srv({.listen = {"0.0.0.0:7007"}, .model = quintet::model::reactor_pool}, handler);`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp. Its type is
/// no part of the server's: `void serve(quintet::server& s)` takes a server of any model and any handler.
class server : public basic_server {
 public:
  /// Listens at once. Throws config_error, and boost::system::system_error (a port in use).
  template <class Handler>
  server(const config& c, Handler h)
      : basic_server(server_options_of(c), make_model(model_options_of(c)), std::move(h)) {}
  /// The same with a model whose type the program names, or has written. The program then links no other model.
  template <thread_model Model, class Handler>
  server(server_options options, Model model, Handler h)
      : basic_server(std::move(options), std::move(model), std::move(h)) {}

  ~server() override { end_background(); }

  /// [any thread] Returns the statistics of the server, and those of the model's pool and offloading.
  [[nodiscard]] with_compute<server_statistics> statistics() const {
    with_compute<server_statistics> all{basic_server::statistics(), {}};
    model().add_to(all);
    return all;
  }
};

}  // namespace quintet
