// SPDX-License-Identifier: BSL-1.0
// config: what a server is told: where to listen, which threading model, who accepts, which limits.
#pragma once

#include "../net/options/server_options.hpp"
#include "any_model.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace quintet {

struct config {
  /// What a server begins with that strangers can reach: everything a peer may hold, and every wait for a peer, has a
  /// limit. The values and their reasons are a table in doc/connections.md. Each of `listen` gets keep_alive and
  /// user_timeout, unless it has its own. `config{}` has no time limits, and sizes that suit peers one knows.
  [[nodiscard]] static config public_defaults(std::vector<listen_options> listen = default_listeners());

  std::vector<listen_options> listen = default_listeners();            ///< where; see listen_options.hpp
  quintet::model model = quintet::model::loop_per_thread;              ///< the one word that changes the threading
  unsigned loops = std::max(1u, std::thread::hardware_concurrency());  ///< models 4 and 5: sub-reactors
  worker_limits workers = {};                   ///< model 3: `max` threads; model 5: `min` to `max`
  offload_options offload = {};                 ///< models 3 and 5: whether all batches go to these threads
  engine_kind engine = engine_kind::automatic;  ///< what moves bytes; not those of model 1, see engine_kind
  duration spin =
      duration::zero();           ///< how long a loop looks for work before it sleeps, while that pays; at most 100 ms
  std::size_t static_output = 0;  ///< bytes of send buffers that each loop allocates in advance; see loop_options
  std::chrono::microseconds busy_poll{0};                  ///< SO_BUSY_POLL of each connection; 0: as the system has it
  accept_limits accepting = {};                            ///< how many connections, from whom, how fast
  accept_strategy accept = accept_strategy::main_reactor;  ///< who accepts them; see accept_strategy
  bool accept_strictly = false;      ///< what cannot be had of `accept` is a config_error, and not replaced
  priority_options priority = {};    ///< of the connections that a listener with `priority` accepts
  heartbeat_options heartbeat = {};  ///< whether connections that are silent are pinged and closed
  placement_policy placement = placement_policy::round_robin;  ///< models 4 and 5: where the main reactor puts them
  place_function place_by = {};                                ///< instead of that, a choice of your own
  rebalance_options rebalance = {};  ///< models 4 and 5: whether connections move to loops that have less to do
  /// Models 4 and 5: loop i stays on the i-th of these CPUs, and begins again at the end of the list. None: loops run
  /// where the system likes, except with accept_strategy::reuse_port_cpu, for which it is all that the process may use.
  std::vector<int> cpus = {};
  /// Models 4 and 5: of `cpus`, or all that the process may use, loops stay on those that are least busy while the
  /// server is made, which takes 100 ms: one on each core before two on any, and all on one NUMA node where one has
  /// enough.
  bool idle_cpus = false;
  /// Model 4, where its loops accept by reuse_port or reuse_port_cpu: each loop's thread has a table of descriptors of
  /// its own, so that the system's limit (RLIMIT_NOFILE) holds for each loop and not for the process. It begins as a
  /// copy of what is open when run() is called: of that, what is closed later stays open in the loops until they end,
  /// and what is opened later elsewhere means nothing in a handler. The price is paid by handlers that use descriptors.
  bool own_descriptors = false;
  connection_limits limits = {};                         ///< of each connection, unless it changes its own
  std::size_t max_output_total = std::size_t{4} << 30U;  ///< output waiting in all connections together
  std::size_t max_input_total = std::size_t{4} << 30U;   ///< unused input of all that keep more than 64 KiB
  std::size_t max_threads = 4096;                        ///< model 1: connections that may have a thread
  log_hook log = {};                                     ///< what the server has to say; nothing, unless there is one
  stall_options stalls = {};                             ///< who tells of handlers that keep a thread busy
};

/// Throws config_error.
[[nodiscard]] model_options model_options_of(const config& c);

}  // namespace quintet
