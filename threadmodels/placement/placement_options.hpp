// SPDX-License-Identifier: BSL-1.0
// placement_options: which loop gets a connection, and which CPU a loop.
#pragma once

#include "placement_policy.hpp"

#include <vector>

namespace quintet {

/// Of the models with loops of their own, loop_per_thread and loop_per_thread_pool.
struct placement_options {
  placement_policy policy = placement_policy::round_robin;  ///< where the main reactor puts connections
  place_function place_by = {};                             ///< instead of a policy, a choice of your own
  /// Loop i stays on the i-th of these CPUs, and begins again at the end of the list. None: loops run where the system
  /// likes, except with accept_strategy::reuse_port_cpu, for which it is all that the process may use.
  std::vector<int> cpus = {};
  /// Of `cpus`, or all that the process may use, loops stay on those that are least busy while the server is made,
  /// which takes 100 ms: one on each core before two on any, and all on one NUMA node where one has enough.
  bool idle_cpus = false;
  /// Model loop_per_thread, where its loops accept by reuse_port or reuse_port_cpu: each loop's thread has a table of
  /// descriptors of its own, so that the system's limit (RLIMIT_NOFILE) holds for each loop and not for the process. It
  /// begins as a copy of what is open when run() is called: of that, what is closed later stays open in the loops until
  /// they end, and what is opened later elsewhere means nothing in a handler. The price is paid by handlers that use
  /// descriptors.
  bool own_descriptors = false;
};

/// [any thread] Throws config_error.
void validate(const placement_options& options);

}  // namespace quintet
