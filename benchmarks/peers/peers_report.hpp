// SPDX-License-Identifier: BSL-1.0
// peers_report.hpp: models and peers compared with a reference, as text for a terminal and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "report/document.hpp"

namespace quintet::bench {

// Returns the reference of a workload: "epoll", or "redis" for the Redis protocol.
std::string_view reference_in(std::string_view workload);

// Returns a block for each workload: a line for each server, then the verdict.
std::string peers_table(const comparison&);

// Composes the keys of every command, "ratios" and "verdicts".
boost::json::object compose_peers(const comparison&);

}  // namespace quintet::bench
