// SPDX-License-Identifier: BSL-1.0
// input_file.cpp: reads until the end, since files of /proc have no size.
#include "input_file.hpp"

#include <fstream>
#include <sstream>

namespace quintet::bench {

std::string read_if_possible(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text ? text.str() : std::string();
}

}  // namespace quintet::bench
