// SPDX-License-Identifier: BSL-1.0
// loop_options: options of an event loop.
#pragma once

#include "../../base/clock.hpp"

#include <cstddef>

namespace quintet {

/// Settings of all loops of a server or a client.
struct loop_tuning {
  /// The longest time that a loop spins before it sleeps. It spins only while that pays, see spin_budget; at most
  /// 100 ms. Zero: it sleeps at once.
  duration spin = duration::zero();
  /// Bytes of send buffers that a loop allocates at its start and keeps. Output that waits uses them before the heap.
  /// Beyond them, buffers are allocated when needed; a loop keeps up to 1 MiB of those that become free.
  std::size_t static_output = 0;
};

/// Settings of one loop.
struct loop_options {
  loop_tuning tuning = {};
  int cpu = -1;  ///< the loop's thread runs on this CPU only; -1: the system decides
  /// The loop's thread has its own table of descriptors, so RLIMIT_NOFILE applies to each loop instead of the process;
  /// see placement_options::own_descriptors.
  bool own_descriptors = false;
};

/// [any thread] Throws config_error. `max_output_total`: see memory_limits.
void validate(const loop_tuning& tuning, std::size_t max_output_total);

}  // namespace quintet
