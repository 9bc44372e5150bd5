// SPDX-License-Identifier: BSL-1.0
// input_file.hpp: reads whole files as text, both users' files and those of /proc.
#pragma once

#include <string>

namespace quintet::bench {

/// Reads a file. Throws std::invalid_argument: "cannot read PATH: Is a directory".
std::string read_input(const std::string& path);

/// Reads a file, or returns "" if it does not exist or may not be read. The process behind a /proc file may have ended
/// or belong to another user.
std::string read_if_possible(const std::string& path);

}  // namespace quintet::bench
