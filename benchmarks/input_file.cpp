// SPDX-License-Identifier: BSL-1.0
// input_file.cpp: reads until the end or an error. It avoids C++ streams, which do not report which error occurred.
#include "input_file.hpp"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace quintet::bench {
namespace {

struct closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Appends the file to `into`. Returns 0 or errno.
int read_all(const std::string& path, std::string& into) {
  const std::unique_ptr<std::FILE, closer> file(std::fopen(path.c_str(), "re"));
  if (!file) return errno;
  std::array<char, 16 * 1024> piece;
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), file.get())) into.append(piece.data(), n);
  return std::ferror(file.get()) != 0 ? errno : 0;
}

}  // namespace

std::string read_input(const std::string& path) {
  std::string text;
  if (const int error = read_all(path, text); error != 0)
    throw std::invalid_argument(fmt::format("cannot read {}: {}", path, std::strerror(error)));
  return text;
}

std::string read_if_possible(const std::string& path) {
  std::string text;
  return read_all(path, text) == 0 ? text : std::string();
}

}  // namespace quintet::bench
