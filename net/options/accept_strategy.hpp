// SPDX-License-Identifier: BSL-1.0
// accept_strategy: which thread accepts a server's connections; the axis beside the threading model.
#pragma once

#include "../../base/enum_names.hpp"

#include <array>

namespace quintet {

/// Who accepts. All but the first are for the models with loops of their own, loop_per_thread and loop_per_thread_pool:
/// a connection then lives where it was accepted, and never crosses threads. What a model, an engine or the kernel does
/// not have is told to the log, and the nearest takes its place; with advanced_options::accept_strictly it is an error.
enum class accept_strategy {
  main_reactor,    ///< the main loop accepts, and the model places: in turn
  reuse_port,      ///< a listening socket for each loop (SO_REUSEPORT): the kernel spreads connections by a hash
  reuse_port_cpu,  ///< the same, and the loop of the CPU that received the connection gets it; loops are pinned
  exclusive,       ///< one listening socket that every loop watches; one of those that wait is woken (EPOLLEXCLUSIVE)
};

template <>
inline constexpr auto enum_names<accept_strategy> =
    std::to_array<enum_name<accept_strategy>>({{accept_strategy::main_reactor, "main_reactor"},
                                               {accept_strategy::reuse_port, "reuse_port"},
                                               {accept_strategy::reuse_port_cpu, "reuse_port_cpu"},
                                               {accept_strategy::exclusive, "exclusive"}});

}  // namespace quintet
