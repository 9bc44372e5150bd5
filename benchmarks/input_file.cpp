// SPDX-License-Identifier: BSL-1.0
// input_file.cpp: reads until the end, since files of /proc have no size.
#include "input_file.hpp"

#include <array>
#include <cstdio>
#include <memory>

namespace quintet::bench {
namespace {

struct closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

std::string read_if_possible(const std::string& path) {
  const std::unique_ptr<std::FILE, closer> file(std::fopen(path.c_str(), "re"));
  if (!file) return {};
  std::string text;
  std::array<char, 16 * 1024> piece;
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), file.get())) text.append(piece.data(), n);
  return std::ferror(file.get()) == 0 ? text : std::string();
}

}  // namespace quintet::bench
