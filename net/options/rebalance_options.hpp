// SPDX-License-Identifier: BSL-1.0
// rebalance_options: when connections move from loops that have much to do to loops that have little.
#pragma once

#include "../../base/clock.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace quintet {

/// What a loop's load is.
enum class rebalance_measure {
  connections,  ///< how many are open on it
  cpu_time,     ///< what its thread has used since the look before; of the connections, those that are active move
};

inline constexpr std::array all_rebalance_measures{rebalance_measure::connections, rebalance_measure::cpu_time};

/// The enumerator's name, as on every command line.
[[nodiscard]] std::string_view to_string(rebalance_measure measure) noexcept;
/// From a name; nothing for any other text.
[[nodiscard]] std::optional<rebalance_measure> rebalance_measure_from_string(std::string_view text) noexcept;

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
