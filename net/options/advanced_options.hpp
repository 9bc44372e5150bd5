// SPDX-License-Identifier: BSL-1.0
// advanced_options: what most servers leave alone.
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
  bool accept_strictly = false;      ///< what cannot be had of `accept` is a config_error, and not replaced
  priority_options priority = {};    ///< of the priority loop: where a listener or the heartbeat monitor needs one
  heartbeat_options heartbeat = {};  ///< whether silent connections are pinged and closed
  rebalance_options rebalance = {};  ///< models 4 and 5: whether connections move to loops that have less to do
  stall_options stalls = {};         ///< who tells of handlers that keep a thread busy; needs the system's clock
  loop_tuning loop = {};             ///< of each loop: spinning, and buffers made in advance
  /// SO_BUSY_POLL: how long the kernel, in a receive or a wait, looks into the network card's queue for a connection's
  /// packets; at most 100 ms. 0: as the system has it. Where the kernel refuses it (older ones do without
  /// CAP_NET_ADMIN) the log is told, and everything goes on without.
  std::chrono::microseconds busy_poll{0};
};

/// [any thread] Where so much output may wait in all connections together. Throws config_error.
void validate(const advanced_options& options, std::size_t max_output_total);

}  // namespace quintet
