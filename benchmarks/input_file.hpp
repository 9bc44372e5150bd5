// SPDX-License-Identifier: BSL-1.0
// input_file.hpp: whole files as text: those that a user names, and those of /proc.
#pragma once

#include <string>

namespace quintet::bench {

/// Throws std::invalid_argument: "cannot read PATH: Is a directory".
std::string read_input(const std::string& path);

/// Empty where there is no such file, or it may not be read: a process may end, and belong to somebody else.
std::string read_if_possible(const std::string& path);

}  // namespace quintet::bench
