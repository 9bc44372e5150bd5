// SPDX-License-Identifier: BSL-1.0
// cpu_times.hpp: CPU time by /proc: of the machine, and of each thread of another process.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace quintet::bench {

/// Of all CPUs together, whoever used them, in seconds since the machine started.
struct machine_seconds {
  double busy = 0;
  double softirq = 0;  ///< the part of it in which the kernel received packets, and more of the kind
};
machine_seconds read_machine_seconds();

/// Of the process and its children: what each thread has used until now. Empty where the process is gone, or the kernel
/// does not tell.
using thread_seconds = std::map<pid_t, double>;
thread_seconds read_thread_seconds(pid_t process);

/// How near a server was to its limit in `wall_s`, as a fraction of 1: its busiest thread, which cannot be on two CPUs,
/// or all of its threads on the CPUs that the process may use.
double strain_of(pid_t process, const thread_seconds& before, const thread_seconds& after, double wall_s);

struct thread_use {
  std::string name;     ///< as ps and perf show it; empty: the thread is gone
  double fraction = 0;  ///< of one CPU
};
/// The busiest first. Reads the names, so soon after `after`.
std::vector<thread_use> busiest_threads(const thread_seconds& before, const thread_seconds& after, double wall_s);

}  // namespace quintet::bench
