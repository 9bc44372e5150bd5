// SPDX-License-Identifier: BSL-1.0
// runner.hpp: one run: a server process, a client process, and what was measured of both.
#pragma once

#include "compare/plan.hpp"
#include "report/result.hpp"

namespace quintet::bench {

// Never throws for what a server or client does wrong: then the result has an `error`. Throws interrupted.
run_result perform(const compare_settings&, const planned_run&);

}  // namespace quintet::bench
