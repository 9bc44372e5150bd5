// SPDX-License-Identifier: BSL-1.0
// memory_group.hpp: a control group that limits the memory of its processes, if this user may create one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace quintet::bench {

/// Version 1 (/sys/fs/cgroup/memory) or 2. Its processes must have ended before its destruction.
class memory_group {
 public:
  /// Returns nullopt if there is no memory controller that this user may write to.
  static std::optional<memory_group> make(std::size_t bytes);

  memory_group(memory_group&& other) noexcept;
  memory_group& operator=(memory_group&&) = delete;
  ~memory_group();

  [[nodiscard]] bool take(pid_t process) const;
  /// Returns the number of processes that the kernel killed at the group's limit.
  [[nodiscard]] std::uint64_t killed() const;
  /// Returns the group's highest memory use in bytes; 0 if the kernel does not provide it.
  [[nodiscard]] std::uint64_t peak() const;

 private:
  memory_group(std::filesystem::path where, bool second) : where_(std::move(where)), second_(second) {}

  std::filesystem::path where_;  // empty: moved from
  bool second_;                  // true: version 2
};

}  // namespace quintet::bench
