// SPDX-License-Identifier: BSL-1.0
// allocators_report.hpp: allocators compared with glibc's, model by model, as text for a terminal and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "report/document.hpp"

namespace quintet::bench {

// Returns a block for each workload and model: a line for each allocator, then the conclusion.
std::string allocators_table(const comparison&);

// Composes the keys of every command, "ratios" and "verdicts".
boost::json::object compose_allocators(const comparison&);

}  // namespace quintet::bench
