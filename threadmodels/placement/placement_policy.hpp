// SPDX-License-Identifier: BSL-1.0
// placement_policy: which of a model's loops gets a connection that the main reactor has accepted.
#pragma once

#include "../../net/names/address.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace quintet {

/// Where each loop accepts for itself (see accept_strategy) there is nothing to choose.
enum class placement_policy {
  round_robin,        ///< one after the other
  least_connections,  ///< the one with the fewest open connections; of several, the next in turn
  peer_hash,          ///< all connections from one address on the same loop; Unix peers have none, and share one
};

inline constexpr std::array all_placement_policies{placement_policy::round_robin, placement_policy::least_connections,
                                                   placement_policy::peer_hash};

/// The enumerator's name, as on every command line.
[[nodiscard]] std::string_view to_string(placement_policy policy) noexcept;
/// From a name; nothing for any other text.
[[nodiscard]] std::optional<placement_policy> placement_policy_from_string(std::string_view text) noexcept;

/// [loop] The main loop's. A choice of your own: the index of a loop, for a connection from there, by how many are open
/// on each, or on their way to it. When it throws, or names a loop that is not there, the connection is refused.
using place_function = std::function<std::size_t(const address& from, std::span<const std::size_t> open)>;

}  // namespace quintet
