// SPDX-License-Identifier: BSL-1.0
// server_statistics: what a server has counted.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../../base/metrics/log2_histogram.hpp"
#include "../loop/loop_counters.hpp"

#include <cstdint>
#include <vector>

namespace quintet {

/// The scheduling that the kernel has granted to a thread. A refusal without an error code: it was not asked for, or
/// not needed.
struct thread_scheduling {
  bool real_time = false;             ///< SCHED_RR
  duration slice = duration::zero();  ///< time slice of an ordinary thread; zero: the system's default
  int nice = 0;                       ///< of an ordinary thread
  error_code real_time_refused = {}, slice_refused = {}, nice_refused = {};
  bool held_back = false;  ///< it has used too much of a CPU, and is an ordinary thread for a while
  [[nodiscard]] bool preferred() const noexcept { return real_time || nice < 0; }
};

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
