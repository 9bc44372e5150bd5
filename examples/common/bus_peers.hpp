// SPDX-License-Identifier: BSL-1.0
// bus_peers: nodes of a bus on the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace example {

/// Returns the addresses of "1=unix:/run/a.bus,2=tcp:10.0.0.2:7100" by their nodes' numbers. Throws
/// quintet::config_error, which names the option.
[[nodiscard]] std::map<std::uint64_t, std::string> bus_peers_from(const std::string& text, const std::string& option);

}  // namespace example
