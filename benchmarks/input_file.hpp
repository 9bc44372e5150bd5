// SPDX-License-Identifier: BSL-1.0
// input_file.hpp: reads whole files of /proc as text.
#pragma once

#include <string>

namespace quintet::bench {

/// Reads a file, or returns "" if it does not exist or may not be read. The process behind a /proc file may have ended
/// or belong to another user.
std::string read_if_possible(const std::string& path);

}  // namespace quintet::bench
