// SPDX-License-Identifier: BSL-1.0
// heartbeat_monitor: scans all connections periodically, pings silent ones, and closes them later.
#pragma once

#include "../../base/metrics/counter.hpp"
#include "../../base/metrics/log2_histogram.hpp"
#include "../connection/connection_registry.hpp"
#include "../loop/event_loop.hpp"
#include "../options/advanced_options.hpp"
#include "server_statistics.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quintet {

/// Runs on the priority loop and measures the delay of its own timer: a heartbeat may be answered equally late there. A
/// scan takes several turns, each of at most 256 connections.
class heartbeat_monitor final : private timer, private fair_task {
 public:
  /// The loop and the registry must outlive the monitor. Throws std::bad_alloc.
  heartbeat_monitor(event_loop& loop, connection_registry& watched, const heartbeat_options& options);

  /// [loop], or [before run] Starts the periodic scans.
  void start() noexcept;

  /// [any thread] Returns the counters.
  [[nodiscard]] heartbeat_statistics statistics() const noexcept;

 private:
  void expired() noexcept override;
  void run_quantum() noexcept override;
  void measure(duration late) noexcept;
  void ping_or_evict(const std::vector<connection_registry::silent_connection>& found);

  event_loop& loop_;
  connection_registry& watched_;
  const duration interval_;
  const std::uint32_t ping_after_, evict_after_;  // in intervals; 0: never
  const shared_bytes ping_;
  time_point due_{};
  connection_registry::scan_position position_;
  std::vector<connection_registry::silent_connection> found_;
  std::vector<connection_id> to_ping_;
  counter scans_, pings_, late_;
  log2_histogram lateness_;
};

}  // namespace quintet
