// SPDX-License-Identifier: BSL-1.0
// measure_accept.hpp: one run of short connections against a server, with its accept counts.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "compare/runner.hpp"

namespace quintet::bench {

// `closing` is how the client ends a connection: "fin" or "reset".
measure_function measure_accept(std::string closing);

// Takes accepted_locally and accept_balance from the output of `serve --json`. Throws run_error if they are missing.
void take_accept_figures(run_result&, const boost::json::object& counted);

}  // namespace quintet::bench
