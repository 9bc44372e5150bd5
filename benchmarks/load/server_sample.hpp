// SPDX-License-Identifier: BSL-1.0
// server_sample.hpp: the kernel's data about a server process at one moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>

namespace quintet::bench {

struct server_sample {
  double wall_s = 0;  ///< CLOCK_MONOTONIC
  double cpu_s = 0;   ///< of all threads and children, including ended threads; nanosecond resolution
  double user_ticks = 0, system_ticks = 0;  ///< coarse; only their proportion is used
  double rss_bytes = 0;
  std::map<pid_t, std::uint64_t> switches;  ///< context switches of each thread
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

}  // namespace quintet::bench
