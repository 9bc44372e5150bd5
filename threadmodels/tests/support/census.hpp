// SPDX-License-Identifier: BSL-1.0
// census: the threads and descriptors of this process, as the kernel lists them.
#pragma once

#include "running.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <unistd.h>

namespace quintet::test {

/// Counts threads by name without the number at its end, such as "qnt-loop-": 2. Only names that begin with `prefix`.
inline std::map<std::string, std::size_t> threads_named(std::string_view prefix) {
  std::map<std::string, std::size_t> count;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");  // a thread that has just ended has no such file
    std::string name;
    if (!std::getline(file, name) || !name.starts_with(prefix)) continue;
    name.erase(name.find_last_not_of("0123456789") + 1);
    ++count[name];
  }
  return count;
}

/// Returns whether no thread has a server's name. A sanitizer may have threads of its own.
inline bool no_server_threads() { return threads_named("qnt-").empty() && threads_named(run_thread_name).empty(); }

/// Counts open descriptors whose link in /proc/self/fd begins with `kind`, such as "anon_inode:[eventpoll]".
inline std::size_t descriptors_of(std::string_view kind) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::array<char, 256> target{};
    const ssize_t length = ::readlink(entry.path().c_str(), target.data(), target.size());
    if (length > 0) count += std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with(kind);
  }
  return count;
}

}  // namespace quintet::test
