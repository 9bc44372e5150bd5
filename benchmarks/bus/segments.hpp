// SPDX-License-Identifier: BSL-1.0
// segments.hpp: the segments of shared memory that processes have mapped, as the kernel tells.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace quintet::bench {

struct segment_use {
  std::size_t count = 0;             ///< different segments in all processes
  std::uint64_t bytes = 0;           ///< their sizes together, as far as they are mapped
  std::uint64_t resident_bytes = 0;  ///< memory that they have; each page counts once
};

/// Adds up the text of /proc/PID/smaps of all processes that have mapped the segments.
class segment_sum {
 public:
  void add(std::string_view smaps);
  [[nodiscard]] segment_use total() const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> ends_;  // by inode: the highest byte that is mapped
  std::uint64_t resident_ = 0;
};

/// Reads the segments of these processes. A segment is a memfd that a process has mapped: its descriptor may be closed.
segment_use read_segments(std::span<const pid_t> processes);

}  // namespace quintet::bench
