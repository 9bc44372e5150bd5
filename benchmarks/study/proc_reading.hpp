// SPDX-License-Identifier: BSL-1.0
// proc_reading.hpp: data of /proc about a process and the machine at one moment, beyond CPU time and memory.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quintet::bench {

struct task_reading {
  double voluntary = 0, involuntary = 0;  // context switches
  double migrations = 0;                  // to another CPU
  double queued_ns = 0;                   // runnable, but waiting for a CPU
};

struct proc_reading {
  double wall_s = 0;
  std::map<pid_t, task_reading> tasks;
  bool has_migrations = false, has_queue = false;  // some kernels are built without these
  double page_faults = 0;
  double received_softirqs = 0;  // NET_RX of all CPUs
  double softirq_s = 0;          // time of all CPUs together
};

// Throws run_error if the process has ended.
proc_reading read_proc(pid_t);

// Returns the difference of two readings per request, by key (figures.hpp). Unknown values are missing: an ended
// thread's counts are lost.
std::map<std::string, double, std::less<>> per_request(const proc_reading& before, const proc_reading& after,
                                                       double requests, double window_s);

}  // namespace quintet::bench
