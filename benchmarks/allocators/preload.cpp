// SPDX-License-Identifier: BSL-1.0
// preload.cpp: the table of allocators, and the check which one a process has.
#include "allocators/preload.hpp"

#include "input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/child_process.hpp"
#include "options.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 1> tcmalloc{"libtcmalloc_minimal.so.4"};
constexpr std::array<std::string_view, 1> jemalloc{"libjemalloc.so.2"};
constexpr std::array<std::string_view, 3> mimalloc{"libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3"};

constexpr std::array<allocator_kind, 4> kinds{{
    {own_allocator, "", {}, ""},
    {"tcmalloc", "libtcmalloc", tcmalloc, "libtcmalloc-minimal4"},
    {"jemalloc", "libjemalloc", jemalloc, "libjemalloc2"},
    {"mimalloc", "libmimalloc", mimalloc, "libmimalloc2.0"},
}};

std::string require_tool(const char* name) {
  if (auto found = find_program(name)) return *std::move(found);
  throw run_error(fmt::format("{} (package coreutils) is needed to preload an allocator", name));
}

// Returns false if the dynamic linker prints a warning; it continues without the library.
bool can_preload(std::string_view library) {
  auto command = preloading(std::string(library));
  command.push_back(require_tool("true"));
  child_process tried("true", command);
  tried.wait(child_process::clock::now() + 10s);
  return tried.complaints().find("cannot be preloaded") == std::string::npos;
}

std::string_view file_name(std::string_view line) {
  const auto slash = line.rfind('/');
  return slash == line.npos ? std::string_view() : line.substr(slash + 1);
}

}  // namespace

std::string allocator_kind::absence() const {
  return fmt::format("{}: {} is not installed; apt-get install {}", name, libraries.front(), package);
}

std::span<const allocator_kind> all_allocators() { return kinds; }

const allocator_kind& find_allocator(std::string_view name) {
  std::string names;
  for (const allocator_kind& k : kinds) {
    if (k.name == name) return k;
    names += (names.empty() ? "" : ", ") + std::string(k.name);
  }
  throw usage_error(fmt::format("\"{}\" is not an allocator; it must be one of: {}", name, names));
}

std::optional<std::string> find_library(const allocator_kind& kind) {
  if (kind.libraries.empty()) return "";
  const auto found = std::find_if(kind.libraries.begin(), kind.libraries.end(), can_preload);
  return found == kind.libraries.end() ? std::nullopt : std::optional(std::string(*found));
}

std::vector<std::string> preloading(const std::string& library) {
  return {require_tool("env"), "LD_PRELOAD=" + library};
}

std::vector<std::string_view> allocators_in(std::string_view maps) {
  std::vector<std::string_view> out;
  while (!maps.empty()) {
    const auto line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    for (const allocator_kind& k : kinds) {
      const bool known = std::find(out.begin(), out.end(), k.name) != out.end();
      if (!k.stem.empty() && !known && file_name(line).starts_with(k.stem)) out.push_back(k.name);
    }
  }
  return out;
}

void require_allocator(std::string_view name, pid_t server) {
  const std::string maps = read_if_possible(fmt::format("/proc/{}/maps", server));
  if (maps.empty()) throw run_error("cannot read the server's /proc/PID/maps, so its allocator is unknown");
  const auto found = allocators_in(maps);
  for (const auto other : found) {
    if (other != name)
      throw run_error(fmt::format("the server already uses {}, so {} cannot be measured", other, name));
  }
  if (found.empty() && name != own_allocator)
    throw run_error(fmt::format("{} was not preloaded: it is not in the server's /proc/PID/maps", name));
}

}  // namespace quintet::bench
