// SPDX-License-Identifier: BSL-1.0
// output_file.hpp: the files that results go to, refused before anything is measured and never left half written.
#pragma once

#include <string>
#include <string_view>

namespace quintet::bench {

/// Lets the name of a file through that can be written, or "-". Makes the directories above it that are missing.
/// Throws usage_error.
std::string parse_output(const std::string& path);

/// Writes beside and renames, so that a reader never sees half a file; to the standard output for "-".
/// Throws std::runtime_error that names the file.
void write_output(const std::string& path, std::string_view text);

}  // namespace quintet::bench
