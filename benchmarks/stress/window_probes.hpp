// SPDX-License-Identifier: BSL-1.0
// window_probes.hpp: how often the kernel has asked a peer that has no room whether it has room by now.
#pragma once

#include <optional>
#include <string_view>

namespace quintet::bench {

/// One counter of /proc/net/netstat; nothing where it is not there. Its groups are two lines each: names, values.
std::optional<double> parse_netstat(std::string_view text, std::string_view group, std::string_view counter);

/// Of this network namespace, since it is there; nothing where the kernel does not tell. The timers behind it are
/// exponential and coarse: who ran out of room together is asked together, 500 peers within a tick of the clock.
std::optional<double> window_probes();

}  // namespace quintet::bench
