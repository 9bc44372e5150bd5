// SPDX-License-Identifier: BSL-1.0
// rebalancer: measures the loads of a server's loops periodically, and asks connections to move.
#pragma once

#include "../../base/log.hpp"
#include "../../base/metrics/counter.hpp"
#include "../connection/connection_registry.hpp"
#include "../loop/event_loop.hpp"
#include "../options/advanced_options.hpp"

#include <atomic>
#include <ctime>
#include <memory>
#include <vector>

namespace quintet::detail {

struct transfer;

}  // namespace quintet::detail

namespace quintet {

/// Runs on the main loop. It touches no connection; it asks connections to move through the registry. A round takes
/// several turns, so that it delays no other work: each scans at most 256 slots and asks at most 64 connections.
class rebalancer final : private timer, private fair_task {
 public:
  /// The loops, the registry and the log must outlive the rebalancer. The main loop must have ended when it is
  /// destroyed. Throws config_error if a loop cannot detach connections (can_detach_connections()), and std::bad_alloc.
  rebalancer(event_loop& main, std::vector<event_loop*> loops, connection_registry& connections,
             const rebalance_options& options, const log_hook& log);

  /// [before run] Starts measuring. Does nothing with fewer than two loops. Throws std::bad_alloc.
  void start();

  /// [any thread] Returns the number of rounds in which connections were asked to move.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_.value(); }

 private:
  enum class phase { resting, marking, waiting, choosing };
  struct cpu_clocks;
  /// The share of a loop's load that moves to another loop. Each candidate adds `share` to `due`. When the `due` of all
  /// shares of a loop add up to 1, one connection is asked to move.
  struct migration_share {
    event_loop* to;
    double share, due;
  };

  void expired() noexcept override;
  void run_quantum() noexcept override;
  void plan_round();
  void measure_connections();
  void measure_cpu_time();
  void begin_round(const std::vector<detail::transfer>& plan);
  void mark();
  void choose();
  void consider(const connection_registry::movable_connection& candidate);
  [[nodiscard]] std::vector<migration_share>* shares_from(const event_loop& loop) noexcept;
  void rest(duration how_long) noexcept;

  event_loop& main_;
  const std::vector<event_loop*> loops_;
  connection_registry& connections_;
  const rebalance_options options_;
  const log_hook& log_;
  std::shared_ptr<cpu_clocks> clocks_;  // shared with functions posted to the loops
  phase phase_ = phase::resting;
  std::vector<double> loads_, cpu_times_;
  time_point measured_{};
  std::vector<std::vector<migration_share>> shares_;  // for each loop
  connection_registry::scan_position position_;
  std::vector<connection_registry::movable_connection> found_;
  std::size_t requested_ = 0;  // in this round
  counter rounds_;
};

}  // namespace quintet
