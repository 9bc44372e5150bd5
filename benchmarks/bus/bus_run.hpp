// SPDX-License-Identifier: BSL-1.0
// bus_run.hpp: processes that send messages over the bus for a time, and what that costs them.
#pragma once

#include "bus/node_process.hpp"
#include "bus/segments.hpp"
#include "options.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace quintet::bench {

struct bus_settings {
  bus_traffic traffic;
  unsigned senders = 1;     ///< to one receiver, which is the first node
  bool has_relay = false;   ///< between them, a node of its own
  unsigned all_to_all = 0;  ///< instead: so many nodes, each of which sends to all others; 0: not
  cpu_list cpus;            ///< of the processes
  std::chrono::nanoseconds duration = std::chrono::milliseconds(200);
};

struct process_use {
  bool sends = false, receives = false;
  unsigned cpu = 0;       ///< to which it is pinned
  double cpu_s = 0;       ///< CPU time within the measured time
  double rss_bytes = 0;   ///< at its end
  double switches = 0;    ///< context switches: wake-ups, and interruptions by others
  double checksum_s = 0;  ///< time within the measured time that checksums took
};

struct bus_result {
  double seconds = 0;
  std::uint64_t messages = 0, bytes = 0, writes = 0;  ///< within the measured time: received, and send calls of senders
  std::uint64_t checked = 0;                          ///< messages of the whole run
  std::vector<process_use> processes;
  segment_use segments;
};

/// Node 1 receives and has the second CPU; senders share the others, with a relay, which is the last node. Nodes that
/// all send have them in turn. With one CPU all are there.
std::vector<unsigned> place_nodes(const bus_settings& s);

/// Runs the processes, each a node. Throws std::runtime_error: also if a message was wrong, lost or doubled.
bus_result run_bus(const bus_settings& s);

}  // namespace quintet::bench
