// SPDX-License-Identifier: BSL-1.0
// disk.hpp: a process's disk traffic, and how long the machine's tasks waited for disks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace quintet::bench {

struct disk_bytes {
  /// Traffic with block devices. Reads from the page cache are excluded; writes count when pages become dirty.
  double read = 0, written = 0;
};

/// Parses /proc/PID/io, which counts since the process began. Returns nullopt if a value is missing.
std::optional<disk_bytes> parse_process_io(std::string_view text);
/// Returns nullopt if the process has ended or belongs to another user.
std::optional<disk_bytes> read_disk_bytes(pid_t process);

/// Parses /proc/pressure/io: seconds since boot in which all non-idle tasks waited for a disk.
std::optional<double> parse_disk_stall(std::string_view text);
/// Returns nullopt if the kernel has no CONFIG_PSI.
std::optional<double> read_disk_stall_seconds();

}  // namespace quintet::bench
