// SPDX-License-Identifier: BSL-1.0
// server_options: where a server listens, and its limits.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/log.hpp"
#include "accept_limits.hpp"
#include "accept_strategy.hpp"
#include "connection_limits.hpp"
#include "engine_kind.hpp"
#include "heartbeat_options.hpp"
#include "listen_options.hpp"
#include "loop_options.hpp"
#include "priority_options.hpp"
#include "rebalance_options.hpp"
#include "stall.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace quintet {

class engine;

struct server_options {
  std::vector<listen_options> listen = default_listeners();  ///< at least one that is not for the priority lane
  accept_limits accepting = {};                              ///< how many connections, from whom, how fast
  accept_strategy accept = accept_strategy::main_reactor;    ///< who accepts them
  bool accept_strictly = false;      ///< what cannot be had of `accept` is a config_error, and not replaced
  priority_options priority = {};    ///< of the priority lane: where a listener or the heartbeat monitor needs one
  heartbeat_options heartbeat = {};  ///< whether silent connections are pinged and closed
  rebalance_options rebalance = {};  ///< whether connections move to loops that have less to do
  connection_limits limits = {};     ///< of each connection, unless it changes its own
  /// Output waiting in all connections together. One that exceeds it ends with errc::output_overflow, unless it keeps
  /// no more than its share of a quarter beyond.
  std::size_t max_output_total = std::size_t{4} << 30U;
  /// The same for unused input, of connections that keep more than 64 KiB: errc::input_overflow.
  std::size_t max_input_total = std::size_t{4} << 30U;
  log_hook log = {};          ///< what the server has to say; nothing, unless there is one
  stall_options stalls = {};  ///< who tells of handlers that keep a thread busy; needs the system's clock
  engine_kind engine = engine_kind::automatic;  ///< of the main loop and the priority lane; a model has its own
  duration spin = duration::zero();             ///< of the same: how long they look for work before they sleep
  std::size_t static_output = 0;                ///< of the same: see loop_options
  /// SO_BUSY_POLL: how long the kernel, in a receive or a wait, looks into the network card's queue for a connection's
  /// packets. 0: as the system has it. Where the kernel refuses it (older ones do without CAP_NET_ADMIN) the log is
  /// told, and everything goes on without.
  std::chrono::microseconds busy_poll{0};

  /// For loops that are driven by hand: the main loop's clock, and its engine where `engine` does not say it.
  std::function<std::unique_ptr<quintet::engine>()> make_engine = {};
  const clock* time = &clock::system();
};

/// Throws config_error.
void validate(const server_options& options);

}  // namespace quintet
