// SPDX-License-Identifier: BSL-1.0
// measure_accept.hpp: one run of short connections against a server, and what it has counted of them.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "compare/runner.hpp"

namespace quintet::bench {

// `closing`: how the client ends a connection, "fin" or "reset".
measure_function measure_accept(std::string closing);

// From what `serve --json` has written: accepted_locally and accept_balance. Throws run_error where they are not there.
void take_accept_figures(run_result&, const boost::json::object& counted);

}  // namespace quintet::bench
