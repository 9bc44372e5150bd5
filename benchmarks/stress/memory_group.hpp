// SPDX-License-Identifier: BSL-1.0
// memory_group.hpp: a control group that bounds the memory of the processes in it, where this user may make one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace quintet::bench {

/// Of version 1 (/sys/fs/cgroup/memory) or 2. Its processes have to have ended before it goes.
class memory_group {
 public:
  /// Nothing where there is no memory controller that this user may write to.
  static std::optional<memory_group> make(std::size_t bytes);

  memory_group(memory_group&& other) noexcept;
  memory_group& operator=(memory_group&&) = delete;
  ~memory_group();

  [[nodiscard]] bool take(pid_t process) const;
  /// Processes that the kernel has killed because the group needed more than it has.
  [[nodiscard]] std::uint64_t killed() const;
  /// The most that it has held, in bytes; 0 where the kernel does not say.
  [[nodiscard]] std::uint64_t peak() const;

 private:
  memory_group(std::filesystem::path where, bool second) : where_(std::move(where)), second_(second) {}

  std::filesystem::path where_;  // empty: moved from
  bool second_;                  // version 2
};

}  // namespace quintet::bench
