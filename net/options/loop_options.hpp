// SPDX-License-Identifier: BSL-1.0
// loop_options: what every event loop can be told when it is made.
#pragma once

#include "../../base/clock.hpp"

#include <cstddef>

namespace quintet {

/// What all loops of a server or a client have in common.
struct loop_tuning {
  /// Before it sleeps a loop spins for at most so long, as long as that pays (see spin_budget); at most 100 ms. Zero:
  /// it sleeps at once.
  duration spin = duration::zero();
  /// Bytes of send buffers that a loop allocates when it is made, and keeps: output that waits takes no memory from the
  /// heap until they are used up. Beyond them, and with 0, buffers are allocated as they are needed, and up to 1 MiB of
  /// those that are free again is kept.
  std::size_t static_output = 0;
};

/// What one loop is told.
struct loop_options {
  loop_tuning tuning = {};
  /// The thread of the loop stays on this CPU; -1: it runs where the system likes.
  int cpu = -1;
  /// The thread of the loop has a table of descriptors of its own, so that RLIMIT_NOFILE holds for each loop and not
  /// for the process; see placement_options::own_descriptors.
  bool own_descriptors = false;
};

/// [any thread] Where so much output may wait in all connections together. Throws config_error.
void validate(const loop_tuning& tuning, std::size_t max_output_total);

}  // namespace quintet
