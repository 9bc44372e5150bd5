// SPDX-License-Identifier: BSL-1.0
// server_sample.hpp: the kernel's data about the server at one moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "cpu_times.hpp"
#include "report/result.hpp"

namespace quintet::bench {

struct server_sample {
  double wall_s = 0;  // CLOCK_MONOTONIC
  double cpu_s = 0;   // of all threads and children, including ended threads; nanosecond resolution
  double user_ticks = 0, system_ticks = 0;  // coarse; only their proportion is used
  double threads = 0;
  double rss_bytes = 0;
  machine_seconds machine;
  std::map<pid_t, std::uint64_t> switches;  // context switches of each thread
  thread_seconds threads_s;                 // CPU time of each thread
};

// Takes a sample. Throws run_error if the process has ended.
server_sample sample_server(pid_t);

// Fills in the figures of the requests between two samples. `window_s` is the client's measured time. The samples are a
// moment later than the client's window, so CPU time is treated as a rate. The server must still be running.
void fill_server_figures(run_result&, pid_t, const server_sample& before, const server_sample& after, double window_s);

}  // namespace quintet::bench
