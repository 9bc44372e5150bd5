// SPDX-License-Identifier: BSL-1.0
// server: the public door. One config says where to listen and which threading model to use.
#pragma once

#include <quintet/net/basic_server.hpp>
#include <quintet/net/stop_on_signals.hpp>
#include <quintet/threadmodels/any_model.hpp>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

namespace quintet {

struct config {
  std::vector<listen_options> listen = default_listeners();            ///< where; see listen_options.hpp
  quintet::model model = quintet::model::loop_per_thread;              ///< the one word that changes the threading
  unsigned loops = std::max(1u, std::thread::hardware_concurrency());  ///< models 4 and 5: sub-reactors
  worker_limits workers = {};                   ///< model 3: `max` threads; model 5: `min` to `max`
  engine_kind engine = engine_kind::automatic;  ///< what moves bytes; not those of model 1, see engine_kind
  duration spin =
      duration::zero();           ///< how long a loop looks for work before it sleeps, while that pays; at most 100 ms
  std::size_t static_output = 0;  ///< bytes of send buffers that each loop allocates in advance; see loop_options
  std::chrono::microseconds busy_poll{0};                ///< SO_BUSY_POLL of each connection; 0: as the system has it
  accept_limits accepting = {};                          ///< how many connections, from whom, how fast
  connection_limits limits = {};                         ///< of each connection, unless it changes its own
  std::size_t max_output_total = std::size_t{4} << 30U;  ///< output waiting in all connections together
  std::size_t max_threads = 4096;                        ///< model 1: connections that may have a thread
  log_hook log = {};                                     ///< what the server has to say; nothing, unless there is one
};

/// `quintet::server srv({.listen = {"0.0.0.0:7007"}, .model = quintet::model::reactor_pool}, handler);`
/// The handler is copied for each connection, so its members are the connection's state; see handler.hpp.
template <handler_or_factory Handler>
class server : public basic_server<any_model, Handler> {
 public:
  server(const config& c, Handler h)
      : basic_server<any_model, Handler>({.listen = c.listen,
                                          .accepting = c.accepting,
                                          .limits = c.limits,
                                          .max_output_total = c.max_output_total,
                                          .log = c.log,
                                          .engine = c.engine,
                                          .spin = c.spin,
                                          .static_output = c.static_output,
                                          .busy_poll = c.busy_poll},
                                         any_model(model_options_of(c)), std::move(h)) {}
};

}  // namespace quintet
