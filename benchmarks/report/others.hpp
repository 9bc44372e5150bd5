// SPDX-License-Identifier: BSL-1.0
// others.hpp: what other commands have measured, for sections of the report.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace quintet::bench {

// A file that sweep, study, contention, memlat, allocators, accept, peers, forecast or stress wrote with --json. Throws
// std::invalid_argument with a sentence that names the file where it is no such.
boost::json::object read_other(const std::string& path);

}  // namespace quintet::bench
