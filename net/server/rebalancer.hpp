// SPDX-License-Identifier: BSL-1.0
// rebalancer: measures the loads of a server's loops periodically, and asks connections to move. A component: only
// programs that link quintet::rebalancer contain its code.
#pragma once

#include "../../base/log.hpp"
#include "../loop/event_loop.hpp"
#include "../options/advanced_options.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace quintet {

class connection_registry;

/// What a rebalancer works with. The loops, the registry and the log must outlive it.
struct balanced_loops {
  event_loop& main;  ///< must have ended when the rebalancer is destroyed
  std::vector<event_loop*> loops;
  connection_registry& connections;
  const rebalance_options& options;
  const log_hook& log;
};

/// Made by make_rebalancer().
class rebalancer {
 public:
  rebalancer() = default;
  rebalancer(const rebalancer&) = delete;
  rebalancer& operator=(const rebalancer&) = delete;
  virtual ~rebalancer() = default;
  /// [before run] Starts measuring. Does nothing with fewer than two loops. Throws std::bad_alloc.
  virtual void start() = 0;
  /// [any thread] Returns the number of rounds in which connections were asked to move.
  [[nodiscard]] virtual std::uint64_t rounds() const noexcept = 0;
};

/// Throws config_error if a loop cannot detach connections (can_detach_connections()), and std::bad_alloc. Weak where
/// it is called: null in a program that does not link the component.
std::unique_ptr<rebalancer> make_rebalancer(const balanced_loops& of);

}  // namespace quintet
