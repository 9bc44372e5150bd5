// SPDX-License-Identifier: BSL-1.0
// instructions.hpp: user-space instructions of a server per request, which other programs do not disturb.
#pragma once

#include <string>

#include "compare/runner.hpp"

namespace quintet::bench {

// Returns the count in a log of callgrind. Throws run_error if there is none.
double collected_instructions(const std::string& log);

// Throws usage_error if valgrind is not installed.
void require_valgrind();

// Counts with callgrind, as the slope between two runs of different length: starting, connecting and stopping cancel
// out. Client and server take turns on one CPU. All requests of a turn arrive before the server wakes.
void measure_instructions(run_result&, const compare_settings&, const planned_run&, const placement&);

}  // namespace quintet::bench
