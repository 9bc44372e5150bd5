// SPDX-License-Identifier: BSL-1.0
// output_file.hpp: result files. Bad paths fail before anything is measured; no file is left half written.
#pragma once

#include <string>
#include <string_view>

namespace quintet::bench {

/// Returns `path` if it is writable or "-". Throws usage_error. Changes nothing: a wrong path must not leave
/// directories behind.
std::string parse_output(const std::string& path);

/// Writes to a temporary file and renames it, so a reader never sees half a file. "-" is the standard output. Throws
/// std::runtime_error, which names the file.
void write_output(const std::string& path, std::string_view text);

}  // namespace quintet::bench
