// SPDX-License-Identifier: BSL-1.0
// accept_strategy: which thread accepts a server's connections; the axis beside the threading model.
#pragma once

#include "../../base/enum_names.hpp"

#include <array>

namespace quintet {

/// Selects the accepting threads. All strategies but the first need loop_per_thread or loop_per_thread_pool: a
/// connection then starts on the loop that accepted it. If the model, the engine or the kernel lacks a strategy, the
/// server uses the nearest one and logs that; advanced_options::accept_strictly makes it an error.
enum class accept_strategy {
  main_reactor,    ///< the main loop accepts, and the model places the connections, see placement_policy
  reuse_port,      ///< a listening socket for each loop (SO_REUSEPORT): the kernel spreads connections by a hash
  reuse_port_cpu,  ///< reuse_port, but the kernel picks the loop of the receiving CPU; loops are pinned
  exclusive,       ///< all loops watch one listening socket; the kernel wakes one of them (EPOLLEXCLUSIVE)
};

template <>
inline constexpr auto enum_names<accept_strategy> =
    std::to_array<enum_name<accept_strategy>>({{accept_strategy::main_reactor, "main_reactor"},
                                               {accept_strategy::reuse_port, "reuse_port"},
                                               {accept_strategy::reuse_port_cpu, "reuse_port_cpu"},
                                               {accept_strategy::exclusive, "exclusive"}});

}  // namespace quintet
