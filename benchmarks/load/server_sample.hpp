// SPDX-License-Identifier: BSL-1.0
// server_sample.hpp: the kernel's data about a server process and the machine at one moment, and the difference of two.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::bench {

/// CPU seconds that each thread of a process has used so far. A thread is missing where the kernel does not tell.
using thread_seconds = std::map<pid_t, double>;

struct disk_bytes {
  /// Traffic with block devices. Reads from the page cache are excluded; writes count when pages become dirty.
  double read = 0, written = 0;
};

struct server_sample {
  double wall_s = 0;  ///< CLOCK_MONOTONIC
  double cpu_s = 0;   ///< of all threads and children, including ended threads; nanosecond resolution
  double user_ticks = 0, system_ticks = 0;  ///< coarse; only their proportion is used
  double rss_bytes = 0;
  std::map<pid_t, std::uint64_t> switches;  ///< context switches of each thread
  thread_seconds threads;
  std::optional<disk_bytes> disk;  ///< of the process without its children; nullopt if it belongs to another user
};

/// Takes a sample of the process and its children. Returns nullopt if the process has ended.
std::optional<server_sample> sample_server(pid_t server);

/// The use of CPU time, memory and threads between two samples.
struct server_use {
  double seconds = 0;  ///< between the samples
  double cpu_s = 0;
  std::optional<double> user_fraction;  ///< of its CPU time; nullopt: too few ticks to tell
  double threads = 0, rss_bytes = 0;    ///< at the end
  std::optional<double> switches;       ///< nullopt if a thread has ended in between, because its count is lost
};
server_use use_between(const server_sample& before, const server_sample& after);

/// Returns the server's utilization within `wall_s`, as a fraction of 1. This is the larger of two: its busiest thread
/// on one CPU, and all its threads on the CPUs that the process may use.
double utilization_of(pid_t process, const thread_seconds& before, const thread_seconds& after, double wall_s);

struct thread_use {
  std::string name;     ///< as ps and perf show it; empty: the thread has ended
  double fraction = 0;  ///< fraction of one CPU
};
/// Returns the threads, busiest first. Call it soon after `after` was read: the names are read now.
std::vector<thread_use> busiest_threads(const thread_seconds& before, const thread_seconds& after, double wall_s);

/// Seconds since boot, in which any process is the cause.
struct machine_seconds {
  double busy = 0;                   ///< of all CPUs together
  double softirq = 0;                ///< the part of `busy` spent in software interrupts, such as receiving packets
  std::optional<double> disk_stall;  ///< all non-idle tasks waited for a disk; nullopt if the kernel has no CONFIG_PSI
};
machine_seconds read_machine_seconds();

/// Parses /proc/PID/io, which counts since the process began. Returns nullopt if a value is missing.
std::optional<disk_bytes> parse_process_io(std::string_view text);
/// Parses /proc/pressure/io: returns machine_seconds::disk_stall.
std::optional<double> parse_disk_stall(std::string_view text);

}  // namespace quintet::bench
