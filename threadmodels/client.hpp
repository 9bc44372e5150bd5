// SPDX-License-Identifier: BSL-1.0
// client: connections to others, under the handlers and the threading models that servers have.
#pragma once

#include "../net/client/basic_client.hpp"
#include "../net/loop/stop_on_signals.hpp"
#include "any_model.hpp"
#include "model_statistics.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace quintet {

struct client_config {
  quintet::model model = quintet::model::single_reactor;               ///< the one word that changes the threading
  unsigned loops = std::max(1u, std::thread::hardware_concurrency());  ///< models 4 and 5: sub-reactors
  worker_limits workers = {};                   ///< model 3: `max` threads; model 5: `min` to `max`
  offload_options offload = {};                 ///< models 3 and 5: whether all batches go to these threads
  engine_kind engine = engine_kind::automatic;  ///< what moves bytes; not those of model 1, see engine_kind
  duration spin =
      duration::zero();           ///< how long a loop looks for work before it sleeps, while that pays; at most 100 ms
  std::size_t static_output = 0;  ///< bytes of send buffers that each loop allocates in advance; see loop_options
  connect_options connecting = {};                  ///< time limits of an attempt, and its socket's buffers
  std::optional<reconnect_options> reconnect = {};  ///< none: a lost connection is not made again
  std::function<void(const connect_failure&)> on_connect_failed = {};  ///< see client_options
  connection_limits limits = {};                         ///< of each connection, unless it changes its own
  std::size_t max_output_total = std::size_t{4} << 30U;  ///< output waiting in all connections together
  std::size_t max_input_total = std::size_t{4} << 30U;   ///< unused input of all that keep more than 64 KiB
  std::size_t tuned_sockets = 64;                        ///< connections beyond so many have bounded buffers:
  int bounded_socket_buffer = 64 * 1024;                 ///< bytes in each direction; 0: never bounded
  std::size_t max_threads = 4096;                        ///< model 1: connections that may have a thread
  log_hook log = {};                                     ///< what the client has to say; nothing, unless there is one
};

/// `quintet::client c({.model = quintet::model::loop_per_thread}, handler); c.connect("db.example:5432"); c.run();`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp.
template <handler_or_factory Handler>
class client : public basic_client<any_model, Handler> {
 public:
  client(const client_config& c, Handler h)
      : basic_client<any_model, Handler>({.connecting = c.connecting,
                                          .reconnect = c.reconnect,
                                          .on_connect_failed = c.on_connect_failed,
                                          .limits = c.limits,
                                          .max_output_total = c.max_output_total,
                                          .max_input_total = c.max_input_total,
                                          .tuned_sockets = c.tuned_sockets,
                                          .bounded_socket_buffer = c.bounded_socket_buffer,
                                          .log = c.log,
                                          .engine = c.engine,
                                          .spin = c.spin,
                                          .static_output = c.static_output},
                                         any_model(model_options_of(c)), std::move(h)) {}
  /// [any thread] With what the model's pool and its loops' offloading have counted.
  [[nodiscard]] with_compute<client_statistics> statistics() const {
    return {basic_client<any_model, Handler>::statistics(), this->model().offloads(), this->model().workers()};
  }
};

}  // namespace quintet
