// SPDX-License-Identifier: BSL-1.0
// placement_policy: which of a model's loops gets a connection that the main reactor has accepted.
#pragma once

#include "../../base/enum_names.hpp"
#include "../../net/names/address.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>

namespace quintet {

/// Where each loop accepts for itself (see accept_strategy) there is nothing to choose.
enum class placement_policy {
  round_robin,        ///< one after the other
  least_connections,  ///< the one with the fewest open connections; of several, the next in turn
  peer_hash,          ///< all connections from one address on the same loop; Unix peers have none, and share one
};

template <>
inline constexpr auto enum_names<placement_policy> =
    std::to_array<enum_name<placement_policy>>({{placement_policy::round_robin, "round_robin"},
                                                {placement_policy::least_connections, "least_connections"},
                                                {placement_policy::peer_hash, "peer_hash"}});

/// [loop] The main loop's. A choice of your own: the index of a loop, for a connection from there, by how many are open
/// on each, or on their way to it. When it throws, or names a loop that is not there, the connection is refused.
using place_function = std::function<std::size_t(const address& from, std::span<const std::size_t> open)>;

}  // namespace quintet
