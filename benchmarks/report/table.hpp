// SPDX-License-Identifier: BSL-1.0
// table.hpp: the comparison as text for a terminal.
#pragma once

#include <string>

#include "report/document.hpp"
#include "report/summary.hpp"

namespace quintet::bench {

// A block for each workload: a line per model and peer, then the verdict; last the advice.
std::string console_table(const comparison&);

// "echo: 100 connections x 8 B, 4 in flight each"
std::string shape_text(const run_result&);
// "echo: 100 connections x 8 B (server on CPU 1, client on CPU 0)"
std::string title_line(const combination&);
// " (server on CPU 1, client on CPU 0)"
std::string placement_text(const run_result&);
// Lines about what went wrong in its rounds; mostly none.
std::string failure_remarks(const combination&);
// The same, and about what held the figures back.
std::string remarks(const combination&);

// The median as text; "-" where nothing was measured.
std::string cell(const combination&, measurement run_result::* field, std::string (*format)(double));

}  // namespace quintet::bench
