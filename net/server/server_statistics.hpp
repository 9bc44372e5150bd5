// SPDX-License-Identifier: BSL-1.0
// server_statistics: what a server has counted.
#pragma once

#include "../../base/metrics/log2_histogram.hpp"
#include "../loop/loop_counters.hpp"
#include "../loop/thread_scheduling.hpp"

#include <cstdint>
#include <vector>

namespace quintet {

/// Of the priority loop; all 0 where there is none.
struct priority_statistics {
  std::uint64_t accepted = 0;
  std::uint64_t open = 0;               ///< now
  std::uint64_t descriptors_given = 0;  ///< of the reserve, to accept with when no others could be had
  std::uint64_t memory_given = 0;       ///< times that a connection was made with the memory of the reserve
  thread_scheduling scheduling;
};

/// Of the heartbeat monitor; all 0 where it is off.
struct heartbeat_statistics {
  std::uint64_t looks = 0;            ///< at all connections
  std::uint64_t pings = 0;            ///< on their way to connections that were silent
  std::uint64_t breaches = 0;         ///< looks that came later than heartbeat_options::lateness_bound
  log2_histogram::snapshot lateness;  ///< of the looks, in nanoseconds
};

struct server_statistics : loop_statistics {
  std::uint64_t accepted = 0;
  std::uint64_t accept_errors = 0;     ///< of the system's accept, such as no descriptors; nobody was dropped
  std::uint64_t accepted_locally = 0;  ///< by a loop that stays on a CPU, and received by the kernel on the same CPU
  std::vector<std::uint64_t> accepted_by_each;  ///< the loops that accept, each of them; not the priority loop
  std::uint64_t refused = 0;                    ///< accepted and closed at once, see accept_limits::on_refused
  std::uint64_t rebalanced = 0;                 ///< times that connections were asked to move, see rebalance_options
  std::uint64_t sends_priority = 0;             ///< of the send calls: those of the priority loop
  priority_statistics priority;
  heartbeat_statistics heartbeat;
  std::uint64_t stalls = 0;  ///< that the watchdog has told of; see stall_options
};

}  // namespace quintet
