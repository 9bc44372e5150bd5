// SPDX-License-Identifier: BSL-1.0
// caches.cpp: /sys/devices/system/cpu/cpuN/cache/index*.
#include "memlat/caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "report/text.hpp"

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Parses "32K" or "16M".
std::size_t bytes_in(const std::string& text) {
  char* end = nullptr;
  const std::size_t number = std::strtoull(text.c_str(), &end, 10);
  if (*end == 'K') return number << 10;
  return *end == 'M' ? number << 20 : number;
}

}  // namespace

std::vector<cache_level> read_caches(unsigned cpu, const std::string& root) {
  std::vector<cache_level> out;
  std::error_code none;
  for (const auto& index : fs::directory_iterator(fmt::format("{}/cpu{}/cache", root, cpu), none)) {
    const auto type = first_word(index.path() / "type");
    const auto level = std::strtoul(first_word(index.path() / "level").c_str(), nullptr, 10);
    const auto bytes = bytes_in(first_word(index.path() / "size"));
    if ((type == "Data" || type == "Unified") && level > 0 && bytes > 0)
      out.push_back({static_cast<unsigned>(level), bytes});
  }
  std::sort(out.begin(), out.end(), [](const cache_level& a, const cache_level& b) { return a.level < b.level; });
  return out;
}

std::vector<working_set> working_sets(const std::vector<cache_level>& caches, std::size_t most,
                                      std::vector<std::string>& left_out) {
  std::vector<working_set> out;
  std::size_t below = 0;
  const auto add = [&](std::string name, std::size_t bytes) {
    if (bytes > most)
      left_out.push_back(fmt::format("{}: it takes {}, and {} are to be had", name,
                                     mebibytes(static_cast<double>(bytes)), mebibytes(static_cast<double>(most))));
    else if (bytes < 2 * below)
      left_out.push_back(name + ": it is hardly larger than the cache below it");
    else
      out.push_back({std::move(name), bytes});
  };
  for (const cache_level& c : caches) {
    add(fmt::format("L{}", c.level), c.level < 3 ? c.bytes / 2 : c.bytes / 4);
    below = c.bytes;
  }
  add("DRAM", std::max<std::size_t>(4 * below, std::size_t{64} << 20));
  return out;
}

}  // namespace quintet::bench
