// SPDX-License-Identifier: BSL-1.0
// peers_report.hpp: ours and the peers beside a reference, as text for a terminal and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "report/document.hpp"

namespace quintet::bench {

// Whom all are compared with in a workload: "epoll", in those of the Redis protocol "redis".
std::string_view reference_in(std::string_view workload);

// A block for each workload: a line for each server, then the verdict.
std::string peers_table(const comparison&);

// What every command writes, and "ratios" and "verdicts".
boost::json::object compose_peers(const comparison&);

}  // namespace quintet::bench
