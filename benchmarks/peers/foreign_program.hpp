// SPDX-License-Identifier: BSL-1.0
// foreign_program.hpp: starts servers that are independent of this tool.
#pragma once

#include <string>
#include <vector>

namespace quintet::bench {

// Returns a command line that runs `command` on these CPUs and ends it with its parent. Throws run_error if the system
// lacks the tools.
std::vector<std::string> pinned(const std::string& cpus, const std::vector<std::string>& command);

// Returns a port of 127.0.0.1 that is unused at this moment.
std::string free_port();

// Returns the path of an example beside the benchmarks of this
// build, or `given`. Throws usage_error if it is not executable.
std::string example_program(const std::string& name, const std::string& given = "");

}  // namespace quintet::bench
