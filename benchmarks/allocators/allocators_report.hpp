// SPDX-License-Identifier: BSL-1.0
// allocators_report.hpp: allocators beside glibc's, model by model, as text for a terminal and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "report/document.hpp"

namespace quintet::bench {

// A block for each workload, and in it for each model: a line for each allocator, then what follows.
std::string allocators_table(const comparison&);

// What every command writes, and "ratios" and "verdicts".
boost::json::object compose_allocators(const comparison&);

}  // namespace quintet::bench
