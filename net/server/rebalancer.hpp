// SPDX-License-Identifier: BSL-1.0
// rebalancer: looks at the loads of a server's loops from time to time, and has connections moved.
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

/// Lives on the main loop, and touches no connection: it asks those that it has chosen to move, through the registry. A
/// round goes on over several turns, so that nobody waits for it: some hundred connections are looked at in a turn, and
/// few are asked at a time.
class rebalancer final : private timer, private fair_task {
 public:
  /// The loops and the registry outlive it; the main loop's thread has ended when it is destroyed. Throws config_error
  /// where connections cannot leave a loop of theirs (can_detach_connections()), and std::bad_alloc.
  rebalancer(event_loop& main, std::vector<event_loop*> loops, connection_registry& connections,
             const rebalance_options& options, const log_hook& log);

  /// [before run] Where there are fewer than two loops it has nothing to do, ever.
  void start();

  /// [any thread] How often connections were asked to move.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_.value(); }

 private:
  enum class phase { resting, marking, waiting, choosing };
  struct cpu_clocks;
  /// What is to leave one loop for another: of all connections a share. One goes as soon as one in all is `due`.
  struct departure {
    event_loop* to;
    double share, due;
  };

  void expired() noexcept override;
  void run_quantum() noexcept override;
  void look();
  void measure_connections();
  void measure_cpu_time();
  void begin_round(const std::vector<detail::transfer>& plan);
  void mark();
  void choose();
  void consider(const connection_registry::movable_connection& candidate);
  [[nodiscard]] std::vector<departure>* departures_from(const event_loop& loop) noexcept;
  void rest(duration how_long) noexcept;

  event_loop& main_;
  const std::vector<event_loop*> loops_;
  connection_registry& connections_;
  const rebalance_options options_;
  const log_hook& log_;
  std::shared_ptr<cpu_clocks> clocks_;  // shared with what has been posted to the loops
  phase phase_ = phase::resting;
  std::vector<double> loads_, cpu_times_;
  time_point measured_{};
  std::vector<std::vector<departure>> departures_;  // of each loop
  connection_registry::look_position position_;
  std::vector<connection_registry::movable_connection> found_;
  std::size_t asked_ = 0;  // in this round
  counter rounds_;
};

}  // namespace quintet
