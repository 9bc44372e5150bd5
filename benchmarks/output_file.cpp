// SPDX-License-Identifier: BSL-1.0
// output_file.cpp: checks before the run, and a rename after writing.
#include "output_file.hpp"

#include "options.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view standard_output = "-";

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// Returns true for a device or a pipe, which a rename would replace.
bool is_special(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) && !fs::is_regular_file(file, ignored);
}

}  // namespace

std::string parse_output(const std::string& path) {
  if (path == standard_output) return path;
  if (path.empty()) throw usage_error("the name of the file is empty");
  std::error_code error;
  if (fs::is_directory(path, error)) throw usage_error(fmt::format("\"{}\" is a directory", path));
  if (!fs::is_directory(folder_of(path), error))
    throw usage_error(
        fmt::format("cannot write \"{}\": \"{}\" is not a directory; make it first", path, folder_of(path).string()));
  const fs::path asked = is_special(path) ? fs::path(path) : folder_of(path);
  if (::access(asked.c_str(), W_OK) != 0)
    throw usage_error(fmt::format("cannot write \"{}\": {}", path, std::strerror(errno)));
  return path;
}

void write_output(const std::string& path, std::string_view text) {
  if (path == standard_output) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to the standard output");
    return;
  }
  const bool special = is_special(path);
  const auto beside = special ? path : path + "." + std::to_string(::getpid()) + ".tmp";
  std::ofstream file(beside, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file || (!special && std::rename(beside.c_str(), path.c_str()) != 0)) {
    const std::string why = std::strerror(errno);
    if (!special) std::remove(beside.c_str());
    throw std::runtime_error("cannot write " + path + ": " + why);
  }
}

}  // namespace quintet::bench
