// SPDX-License-Identifier: BSL-1.0
// server_sample.hpp: what the kernel knows about the server at one moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "report/result.hpp"

namespace quintet::bench {

struct server_sample {
  double wall_s = 0;                        // CLOCK_MONOTONIC
  double cpu_s = 0;                         // all its threads, also those that have ended, to the nanosecond
  double user_ticks = 0, system_ticks = 0;  // coarse; only their proportion is used
  double threads = 0;
  double rss_bytes = 0;
  double machine_busy_s = 0;                // of all CPUs together, whoever used them
  double machine_softirq_s = 0;             // the part of it in which the kernel received packets, and more of the kind
  std::map<pid_t, std::uint64_t> switches;  // context switches of each thread
};

// Throws run_error when the process is gone.
server_sample sample_server(pid_t);

// Fills in what two samples tell about the requests between them. `window_s` is the client's measured time: the samples
// are taken a moment later than the client's own, so the CPU time is taken as a rate.
void fill_server_figures(run_result&, const server_sample& before, const server_sample& after, double window_s);

}  // namespace quintet::bench
