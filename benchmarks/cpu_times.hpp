// SPDX-License-Identifier: BSL-1.0
// cpu_times.hpp: CPU time from /proc: of the machine, and of each thread of another process.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace quintet::bench {

/// CPU time of all CPUs together, used by any process, in seconds since boot.
struct machine_seconds {
  double busy = 0;
  double softirq = 0;  ///< the part of `busy` spent in software interrupts, such as receiving packets
};
machine_seconds read_machine_seconds();

/// CPU seconds that each thread of the process has used so far.
/// Empty if the process has ended or the kernel does not tell.
using thread_seconds = std::map<pid_t, double>;
thread_seconds read_thread_seconds(pid_t process);

/// Returns the server's utilization within `wall_s`, as a fraction of 1. This is the larger of two: its busiest thread
/// on one CPU, and all its threads on the CPUs that the process may use.
double utilization_of(pid_t process, const thread_seconds& before, const thread_seconds& after, double wall_s);

struct thread_use {
  std::string name;     ///< as ps and perf show it; empty: the thread has ended
  double fraction = 0;  ///< fraction of one CPU
};
/// Returns the threads, busiest first. Call it soon after `after` was read: the names are read now.
std::vector<thread_use> busiest_threads(const thread_seconds& before, const thread_seconds& after, double wall_s);

}  // namespace quintet::bench
