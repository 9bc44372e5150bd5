// SPDX-License-Identifier: BSL-1.0
// runner.hpp: one run: a server process, a client process, and what was measured of both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/plan.hpp"
#include "report/result.hpp"

namespace quintet::bench {

// Runs a server and what loads it, and fills in what was found. Throws.
using measure_function =
    std::function<void(run_result&, const compare_settings&, const planned_run&, const placement&)>;
// By `serve` and `load`.
void measure_load(run_result&, const compare_settings&, const planned_run&, const placement&);

// The command line of its server, which prints "listening on ADDRESS".
std::vector<std::string> server_command(const compare_settings&, const planned_run&, const run_result& about);

// Never throws for what a server or client does wrong: then the result has an `error`. Throws interrupted.
run_result perform(const compare_settings&, const planned_run&, const measure_function& = measure_load);

}  // namespace quintet::bench
