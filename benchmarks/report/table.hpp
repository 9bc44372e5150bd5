// SPDX-License-Identifier: BSL-1.0
// table.hpp: the comparison as text for a terminal.
#pragma once

#include <string>

#include "report/document.hpp"
#include "report/summary.hpp"

namespace quintet::bench {

// Returns a block for each workload: a line per model and peer, then the verdict. The advice is last.
std::string console_table(const comparison&);

// Returns "echo: 100 connections x 8 B, 4 in flight each".
std::string shape_text(const run_result&);
// Returns "echo: 100 connections x 8 B (server on CPU 1, client on CPU 0)".
std::string title_line(const combination&);
// Returns " (server on CPU 1, client on CPU 0)".
std::string placement_text(const run_result&);
// Returns lines about failures in the combination's rounds; mostly none.
std::string failure_remarks(const combination&);
// Returns the failure remarks, and remarks about limits of the figures.
std::string remarks(const combination&);

// Returns the median as text; "-" if nothing was measured.
std::string cell(const combination&, measurement run_result::* field, std::string (*format)(double));

}  // namespace quintet::bench
