// SPDX-License-Identifier: BSL-1.0
// sweep_report.hpp: the curves of a sweep and their conclusions, as text for a terminal and as JSON.
#pragma once

#include <string>

#include "report/document.hpp"
#include "sweep/axis.hpp"

namespace quintet::bench {

// Returns a block for each server, with a line and a bar for each value, then the conclusions.
std::string sweep_table(const axis&, const comparison&);

// Composes the keys of every command, "leads" and "crossings"; "published" and "shape" if connections vary.
boost::json::object compose_sweep(const axis&, const comparison&);

}  // namespace quintet::bench
