// SPDX-License-Identifier: BSL-1.0
// plan: what one round of the soak test mixes, drawn from its seed.
#pragma once

#include "combination.hpp"

#include <quintet/net/options/limits.hpp>
#include <quintet/net/options/listen_options.hpp>
#include <quintet/net/options/loop_options.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace quintet::test::soak {

using dice = std::mt19937_64;
/// Returns true once in `n` times.
inline bool one_in(dice& random, unsigned n) { return random() % n == 0; }

enum class ending_way { drain_after_clients, drain_among_clients, stop_among_clients };

/// The nodes of the bus beside the server.
struct bus_plan {
  bool is_there = false;
  bool repeats = false;  ///< to the successor of a node what the node has not acknowledged
  engine_kind engine{};
  std::size_t max_message = 0, max_unacknowledged = 0, ring_size = 0;
};

struct plan {
  std::uint64_t seed = 0;
  combination under{};
  engine_kind engine{};
  accept_strategy accept{};
  connection_limits limits;
  unsigned loops = 1, workers = 1, clients = 1, sessions = 1;
  bool small_buffers = false;  ///< of the server's sockets, so that output waits in the library
  bool is_watched = false;     ///< by the stall watchdog
  bool rebalances = false;
  bool has_faults = false;     ///< system calls of the server fail
  bool has_shortage = false;   ///< allocations of the server fail
  bool has_intruders = false;  ///< connections are closed and aborted by id
  ending_way ends{};
  bus_plan bus;

  /// Returns whether a connection may end without an answer to all requests.
  [[nodiscard]] bool is_lossy() const {
    return has_faults || has_shortage || has_intruders || ends != ending_way::drain_after_clients;
  }
};

[[nodiscard]] plan make_plan(std::uint64_t seed);
[[nodiscard]] std::string to_string(const plan& p);

}  // namespace quintet::test::soak
