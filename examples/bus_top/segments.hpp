// SPDX-License-Identifier: BSL-1.0
// segments: looks at the shared memory of another process's node while it is in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace bus_top {

struct ring_state {
  std::uint64_t produced = 0, consumed = 0;  ///< bytes since the beginning
  bool reader_sleeps = false, writer_waits = false;
};
/// The rings of a connection: from the node, and to it.
struct place_state {
  std::size_t place = 0;
  std::array<ring_state, 2> rings;
};
struct file_state {
  std::size_t size = 0, places = 0, resident = 0;  ///< resident: bytes that the kernel has provided
  std::vector<place_state> used;                   ///< by connections that have not ended
};

/// Returns the files in memory that a process of this host has made for its peers. Both processes must have the same
/// user. Believes nothing that the process says: skips files that no node makes. Empty if `ring_size` is not the size
/// of a ring.
[[nodiscard]] std::vector<file_state> files_of(pid_t process, std::size_t ring_size);

}  // namespace bus_top
