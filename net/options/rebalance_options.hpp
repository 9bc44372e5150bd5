// SPDX-License-Identifier: BSL-1.0
// rebalance_options: when connections move from loops that have much to do to loops that have little.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/enum_names.hpp"

#include <array>
#include <chrono>

namespace quintet {

/// What a loop's load is.
enum class rebalance_measure {
  connections,  ///< how many are open on it
  cpu_time,     ///< what its thread has used since the look before; of the connections, those that are active move
};

template <>
inline constexpr auto enum_names<rebalance_measure> = std::to_array<enum_name<rebalance_measure>>(
    {{rebalance_measure::connections, "connections"}, {rebalance_measure::cpu_time, "cpu_time"}});

/// Connections move by connection::move_to(), so handlers keep ids and no references to connections.
struct rebalance_options {
  /// Where the load of the busiest loop is more than so many times that of the idlest, connections move until all have
  /// the same. Zero: none ever do; else at least 1.05.
  double factor = 0;
  rebalance_measure by = rebalance_measure::connections;
  duration interval = std::chrono::milliseconds(250);   ///< how often the loads are looked at; at least 1 ms
  duration cool_down = std::chrono::milliseconds(500);  ///< after connections have moved, until they may move again

  [[nodiscard]] bool is_on() const noexcept { return factor > 0; }
};

/// Throws config_error.
void validate(const rebalance_options& options);

}  // namespace quintet
