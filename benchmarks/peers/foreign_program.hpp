// SPDX-License-Identifier: BSL-1.0
// foreign_program.hpp: starting servers that know nothing of this tool.
#pragma once

#include <string>
#include <vector>

namespace quintet::bench {

// The command line that runs another one on these CPUs, and ends it with us, whatever becomes of us. Throws run_error
// where the system has no program for that.
std::vector<std::string> pinned(const std::string& cpus, const std::vector<std::string>& command);

// One of 127.0.0.1 that nobody uses at this moment.
std::string free_port();

// Beside the benchmarks of this build: the example of this name, or what was `given` instead. Throws usage_error.
std::string example_program(const std::string& name, const std::string& given = "");

}  // namespace quintet::bench
