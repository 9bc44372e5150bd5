// SPDX-License-Identifier: BSL-1.0
// server_statistics: the counters of a server.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../../base/metrics/log2_histogram.hpp"
#include "../loop/loop_counters.hpp"
#include "../secure/handshake_figures.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace quintet {

/// The scheduling that the kernel has granted to a thread. A refusal without an error code: it was not asked for, or
/// not needed.
struct thread_scheduling {
  bool real_time = false;             ///< SCHED_RR
  duration slice = duration::zero();  ///< time slice of an ordinary thread; zero: the system's default
  int nice = 0;                       ///< of an ordinary thread
  error_code real_time_refused = {};  ///< why SCHED_RR was refused
  error_code slice_refused = {};      ///< why the slice was refused
  error_code nice_refused = {};       ///< why the nice value was refused
  bool held_back = false;             ///< it has used too much of a CPU, and is an ordinary thread for a while
  /// Returns whether the thread runs before ordinary ones.
  [[nodiscard]] bool preferred() const noexcept { return real_time || nice < 0; }
};

/// [any thread] Returns one line: "ordinary, slices of 100 us; refused: nice (Permission denied)".
[[nodiscard]] std::string to_string(const thread_scheduling& got);

/// Counters of the priority loop; all 0 if there is none.
struct priority_statistics {
  std::uint64_t accepted = 0;           ///< connections
  std::uint64_t open = 0;               ///< connections that are open now
  std::uint64_t descriptors_given = 0;  ///< freed from the reserve when no other was available to accept
  std::uint64_t memory_given = 0;       ///< times the reserve's memory was freed to make a connection
  thread_scheduling scheduling;         ///< of its thread
};

/// Counters of the heartbeat monitor; all 0 if it is off.
struct heartbeat_statistics {
  std::uint64_t scans = 0;            ///< complete scans of all connections
  std::uint64_t pings = 0;            ///< posted to silent connections
  std::uint64_t late = 0;             ///< scans that began later than half of heartbeat_options::interval
  log2_histogram::snapshot lateness;  ///< of the scans, in nanoseconds
};

/// The counters of a server and of its loops.
struct server_statistics : loop_statistics {
  std::uint64_t accepted = 0;       ///< connections
  std::uint64_t accept_errors = 0;  ///< failed accepts, such as no descriptors; also connections dropped without memory
  std::uint64_t accepted_locally = 0;           ///< by a pinned loop on whose CPU the kernel received the connection
  std::vector<std::uint64_t> accepted_by_each;  ///< for each accepting loop but the priority loop
  handshake_statistics handshakes;              ///< of listeners with TLS, and of connection::start_tls()
  std::uint64_t refused = 0;                    ///< accepted and closed at once, see accept_limits::on_refused
  std::uint64_t rebalanced = 0;      ///< rounds in which connections were asked to move, see rebalance_options
  std::uint64_t sends_priority = 0;  ///< the priority loop's part of the send calls
  priority_statistics priority;      ///< of the priority loop
  heartbeat_statistics heartbeat;    ///< of the heartbeat monitor
  std::uint64_t stalls = 0;          ///< found by the watchdog, see stall_options
};

}  // namespace quintet
