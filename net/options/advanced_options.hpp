// SPDX-License-Identifier: BSL-1.0
// advanced_options: settings that most servers leave alone.
#pragma once

#include "accept_strategy.hpp"
#include "heartbeat_options.hpp"
#include "loop_options.hpp"
#include "priority_options.hpp"
#include "rebalance_options.hpp"
#include "stall.hpp"

#include <chrono>

namespace quintet {

struct advanced_options {
  accept_strategy accept = accept_strategy::main_reactor;  ///< which threads accept
  bool accept_strictly = false;      ///< an unavailable `accept` is a config_error instead of being replaced
  priority_options priority = {};    ///< the priority loop, if the server has one
  heartbeat_options heartbeat = {};  ///< whether silent connections are pinged and closed
  rebalance_options rebalance = {};  ///< models 4 and 5: whether connections migrate to loops with less load
  stall_options stalls = {};         ///< reports of handlers that keep a thread busy; needs the system's clock
  loop_tuning loop = {};             ///< each loop's spinning and preallocated buffers
  /// SO_BUSY_POLL: how long a receive or a wait polls the network card's queue for a connection's packets; at most
  /// 100 ms. 0: the system's default. If the kernel refuses it (older ones require CAP_NET_ADMIN), the server logs that
  /// and runs without.
  std::chrono::microseconds busy_poll{0};
};

/// [any thread] `max_output_total`: see memory_limits. Throws config_error.
void validate(const advanced_options& options, std::size_t max_output_total);

}  // namespace quintet
