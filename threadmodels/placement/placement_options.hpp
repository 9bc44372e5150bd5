// SPDX-License-Identifier: BSL-1.0
// placement_options: which loop gets a connection, and which CPU a loop.
#pragma once

#include "../../base/enum_names.hpp"
#include "../../net/names/address.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace quintet {

/// Selects the loop of a connection that the main reactor accepted. Unused where each loop accepts (accept_strategy).
enum class placement_policy {
  round_robin,        ///< each loop in turn
  least_connections,  ///< the loop with the fewest open connections; among equals, the next in turn
  peer_hash,          ///< one loop for all connections from an address; all Unix peers share one loop
};

template <>
inline constexpr auto enum_names<placement_policy> =
    std::to_array<enum_name<placement_policy>>({{placement_policy::round_robin, "round_robin"},
                                                {placement_policy::least_connections, "least_connections"},
                                                {placement_policy::peer_hash, "peer_hash"}});

/// [loop] The main loop calls it. Returns the index of the loop for a connection from `from`. `open` has the number of
/// connections of each loop, with those on their way to it. An exception or a wrong index refuses the connection.
using place_function = std::function<std::size_t(const address& from, std::span<const std::size_t> open)>;

/// For loop_per_thread and loop_per_thread_pool.
struct placement_options {
  placement_policy policy = placement_policy::round_robin;  ///< used unless place_by is set
  place_function place_by = {};                             ///< replaces the policy
  /// Loop i runs on CPU `cpus[i % cpus.size()]` only. Empty: loops are not pinned, except that reuse_port_cpu pins them
  /// to all CPUs that the process may use.
  std::vector<int> cpus = {};
  /// Pins loops to the least busy CPUs of `cpus`, or of all that the process may use. The server's constructor measures
  /// for 100 ms. Each core gets one loop before any gets two. All loops get one NUMA node if one has enough CPUs.
  bool idle_cpus = false;
  /// Only for loop_per_thread with reuse_port or reuse_port_cpu: each loop's thread has its own table of descriptors.
  /// RLIMIT_NOFILE then applies to each loop instead of the process. Each table starts as a copy when run() is called.
  /// Descriptors of the copy stay open in a loop until it ends. Handlers cannot use descriptors that other threads
  /// open later.
  bool own_descriptors = false;
};

/// [any thread] Throws config_error.
void validate(const placement_options& options);

}  // namespace quintet
