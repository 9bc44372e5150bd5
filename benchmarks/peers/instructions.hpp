// SPDX-License-Identifier: BSL-1.0
// instructions.hpp: user-space instructions of a server for each request, which no neighbour on the machine disturbs.
#pragma once

#include <string>

#include "compare/runner.hpp"

namespace quintet::bench {

// Of a log of callgrind's. Throws run_error where it has counted nothing.
double collected_instructions(const std::string& log);

// Throws usage_error where valgrind is not installed.
void require_valgrind();

// By callgrind, as the slope between two runs of different length, so that starting, connecting and stopping cancel
// out. Client and server take strict turns on one CPU: all requests of a turn are there before the server wakes.
void measure_instructions(run_result&, const compare_settings&, const planned_run&, const placement&);

}  // namespace quintet::bench
