// SPDX-License-Identifier: BSL-1.0
// preload.hpp: memory allocators that take the place of glibc's in another process, through LD_PRELOAD.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

inline constexpr std::string_view own_allocator = "glibc";  // what a server has unless another one is preloaded

struct allocator_kind {
  std::string_view name;
  std::string_view stem;                        // what the names of its files begin with
  std::span<const std::string_view> libraries;  // names that the dynamic linker may know it by, the first is the usual
  std::string_view package;                     // Debian's

  // "jemalloc: libjemalloc.so.2 is not installed; apt-get install libjemalloc2"
  std::string absence() const;
};

// glibc's first.
std::span<const allocator_kind> all_allocators();
// Throws usage_error where there is none of this name, with those there are.
const allocator_kind& find_allocator(std::string_view name);

// The name by which the dynamic linker finds it: "" for glibc's; nothing where it does not. Throws run_error where this
// cannot be tried.
std::optional<std::string> find_library(const allocator_kind&);

// What goes before a command line, so that it runs with this library, and with no other one that we might have been
// given ourselves. Throws run_error where the system has no program for that.
std::vector<std::string> preloading(const std::string& library);

// The allocators whose libraries are in this /proc/PID/maps, by name.
std::vector<std::string_view> allocators_in(std::string_view maps);
// Throws run_error unless the process has this allocator and no other one: the dynamic linker goes on without what it
// cannot preload.
void require_allocator(std::string_view name, pid_t);

}  // namespace quintet::bench
