// SPDX-License-Identifier: BSL-1.0
// disk.hpp: what a process has read from and written to disks, and how long everybody waited for them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace quintet::bench {

struct disk_bytes {
  double read = 0, written = 0;  ///< handed to a device, or to be: what the page cache answers is not in them
};

/// What /proc/PID/io says since the process began; nothing where something is missing.
std::optional<disk_bytes> parse_process_io(std::string_view text);
/// Nothing where the process is gone, or is another user's.
std::optional<disk_bytes> read_disk_bytes(pid_t process);

/// Of /proc/pressure/io since the machine started: seconds in which all that had something to do waited for a disk.
std::optional<double> parse_disk_stall(std::string_view text);
/// Nothing where the kernel does not tell (CONFIG_PSI).
std::optional<double> read_disk_stall_seconds();

}  // namespace quintet::bench
