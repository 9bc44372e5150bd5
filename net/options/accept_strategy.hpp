// SPDX-License-Identifier: BSL-1.0
// accept_strategy: which thread accepts a server's connections; the axis beside the threading model.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace quintet {

/// Who accepts. All but the first are for the models with loops of their own, loop_per_thread and loop_per_thread_pool:
/// a connection then lives where it was accepted, and never crosses threads. What a model, an engine or the kernel does
/// not have is told to the log, and the nearest takes its place; with config::accept_strictly it is an error.
enum class accept_strategy {
  main_reactor,    ///< the main loop accepts, and the model places: in turn
  reuse_port,      ///< a listening socket for each loop (SO_REUSEPORT): the kernel spreads connections by a hash
  reuse_port_cpu,  ///< the same, and the loop of the CPU that received the connection gets it; loops are pinned
  exclusive,       ///< one listening socket that every loop watches; one of those that wait is woken (EPOLLEXCLUSIVE)
};

inline constexpr std::array all_accept_strategies{accept_strategy::main_reactor, accept_strategy::reuse_port,
                                                  accept_strategy::reuse_port_cpu, accept_strategy::exclusive};

/// The enumerator's name, as on every command line and in the log.
[[nodiscard]] std::string_view to_string(accept_strategy strategy) noexcept;
/// From a name; nothing for any other text.
[[nodiscard]] std::optional<accept_strategy> accept_strategy_from_string(std::string_view text) noexcept;

}  // namespace quintet
