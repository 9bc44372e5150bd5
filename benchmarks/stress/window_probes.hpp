// SPDX-License-Identifier: BSL-1.0
// window_probes.hpp: the number of window probes that the kernel has sent to peers without receive window.
#pragma once

#include <optional>
#include <string_view>

namespace quintet::bench {

/// Returns one counter of /proc/net/netstat; nullopt if it is missing. Each group is two lines: names, values.
std::optional<double> parse_netstat(std::string_view text, std::string_view group, std::string_view counter);

/// Returns the probes of this network namespace since its creation; nullopt if unknown. The timers are exponential and
/// coarse: peers that filled their windows together are probed together, 500 within a tick of the clock.
std::optional<double> window_probes();

}  // namespace quintet::bench
