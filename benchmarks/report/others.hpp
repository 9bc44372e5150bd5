// SPDX-License-Identifier: BSL-1.0
// others.hpp: documents of other commands, for sections of the report.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace quintet::bench {

// Reads a file that sweep, study, contention, memlat, allocators, accept, peers, forecast or stress wrote with --json.
// Throws std::invalid_argument, which names the file, if it is none of these.
boost::json::object read_other(const std::string& path);

}  // namespace quintet::bench
