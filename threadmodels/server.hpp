// SPDX-License-Identifier: BSL-1.0
// server: the server for users. One config says where to listen and which threading model to use.
#pragma once

#include "../net/loop/stop_on_signals.hpp"
#include "../net/server/basic_server.hpp"
#include "compute/model_statistics.hpp"
#include "config.hpp"

#include <utility>

namespace quintet {

/// `quintet::server srv({.listen = {"0.0.0.0:7007"}, .model = quintet::model::reactor_pool}, handler);`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp.
template <handler_or_factory Handler>
class server : public basic_server<any_model, Handler> {
 public:
  /// Listens at once. Throws config_error, and boost::system::system_error (a port in use).
  server(const config& c, Handler h)
      : basic_server<any_model, Handler>(server_options_of(c), any_model(model_options_of(c)), std::move(h)) {}
  /// [any thread] Returns the statistics of the server, and those of the model's pool and offloading.
  [[nodiscard]] with_compute<server_statistics> statistics() const {
    return {basic_server<any_model, Handler>::statistics(), this->model().offloads(), this->model().workers()};
  }
};

}  // namespace quintet
