// SPDX-License-Identifier: BSL-1.0
// sweep_report.hpp: the curves of a sweep and what they say, as text for a terminal and as JSON.
#pragma once

#include <string>

#include "report/document.hpp"
#include "sweep/axis.hpp"

namespace quintet::bench {

// A block for each server: a line with a bar for each value; then what the curves say.
std::string sweep_table(const axis&, const comparison&);

// What every command writes, and "leads" and "crossings"; "published" and "shape" where connections vary.
boost::json::object compose_sweep(const axis&, const comparison&);

}  // namespace quintet::bench
