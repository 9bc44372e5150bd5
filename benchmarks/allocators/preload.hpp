// SPDX-License-Identifier: BSL-1.0
// preload.hpp: memory allocators that replace glibc's in another process, through LD_PRELOAD.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

inline constexpr std::string_view own_allocator = "glibc";  // the allocator of a server without a preloaded one

struct allocator_kind {
  std::string_view name;
  std::string_view stem;                        // common prefix of its file names
  std::span<const std::string_view> libraries;  // possible names for the dynamic linker, the usual one first
  std::string_view package;                     // Debian's

  // Returns "jemalloc: libjemalloc.so.2 is not installed; apt-get install libjemalloc2".
  std::string absence() const;
};

// Returns all allocators, glibc's first.
std::span<const allocator_kind> all_allocators();
// Throws usage_error, which lists the allocators, if the name is unknown.
const allocator_kind& find_allocator(std::string_view name);

// Returns the library's name for the dynamic linker: "" for glibc's, nullopt if it is not found. Throws run_error if
// the test is impossible.
std::optional<std::string> find_library(const allocator_kind&);

// Returns the words to put before a command line, so that it runs with this library only. A library preloaded into this
// process is dropped. Throws run_error if the system lacks the tool.
std::vector<std::string> preloading(const std::string& library);

// Returns the names of the allocators whose libraries are in this /proc/PID/maps.
std::vector<std::string_view> allocators_in(std::string_view maps);
// Throws run_error unless the process has exactly this allocator. The check is needed because the dynamic linker
// continues without a library that it cannot preload.
void require_allocator(std::string_view name, pid_t);

}  // namespace quintet::bench
