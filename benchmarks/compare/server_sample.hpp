// SPDX-License-Identifier: BSL-1.0
// server_sample.hpp: what the kernel knows about the server at one moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "cpu_times.hpp"
#include "report/result.hpp"

namespace quintet::bench {

struct server_sample {
  double wall_s = 0;                        // CLOCK_MONOTONIC
  double cpu_s = 0;                         // all its threads, also those that have ended, to the nanosecond
  double user_ticks = 0, system_ticks = 0;  // coarse; only their proportion is used
  double threads = 0;
  double rss_bytes = 0;
  machine_seconds machine;
  std::map<pid_t, std::uint64_t> switches;  // context switches of each thread
  thread_seconds threads_s;                 // CPU time of each
};

// Throws run_error when the process is gone.
server_sample sample_server(pid_t);

// Fills in what two samples tell about the requests between them. `window_s` is the client's measured time: the samples
// are taken a moment later than the client's own, so the CPU time is taken as a rate.
// The server is still there.
void fill_server_figures(run_result&, pid_t, const server_sample& before, const server_sample& after, double window_s);

}  // namespace quintet::bench
