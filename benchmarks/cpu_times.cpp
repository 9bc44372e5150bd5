// SPDX-License-Identifier: BSL-1.0
// cpu_times.cpp: /proc/stat, /proc/PID/task/*/schedstat, and the threads' names.
#include "cpu_times.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

void add_threads(pid_t process, thread_seconds& into) {
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::ifstream file(task.path() / "schedstat");  // ns on a CPU, ns waiting for one, time slices
    double ran_ns = 0;
    if (file >> ran_ns) into[static_cast<pid_t>(std::stol(task.path().filename()))] = ran_ns / 1e9;
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) add_threads(child, into);
  }
}

double seconds_of(pid_t thread, const thread_seconds& in) {
  const auto found = in.find(thread);
  return found == in.end() ? 0 : found->second;
}

// Threads are not listed in /proc, but each has an entry there.
std::string name_of(pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/comm", thread));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

// The first line: user nice system idle iowait irq softirq steal, in ticks.
machine_seconds read_machine_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double ticks = 0;
  machine_seconds out;
  file >> name;
  for (int field = 0; field < 8 && file >> ticks; ++field) {
    const double time_s = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    if (field != 3 && field != 4) out.busy += time_s;
    if (field == 6) out.softirq = time_s;
  }
  return out;
}

thread_seconds read_thread_seconds(pid_t process) {
  thread_seconds out;
  add_threads(process, out);
  return out;
}

double utilization_of(pid_t process, const thread_seconds& before, const thread_seconds& after, double wall_s) {
  double most = 0, all = 0;
  for (const auto& [thread, used] : after) {
    const double now = used - seconds_of(thread, before);
    most = std::max(most, now);
    all += now;
  }
  cpu_set_t set;
  const int cpus = ::sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return std::min(1.0, std::max(most, cpus > 0 ? all / cpus : 0) / wall_s);
}

std::vector<thread_use> busiest_threads(const thread_seconds& before, const thread_seconds& after, double wall_s) {
  std::vector<thread_use> out;
  for (const auto& [thread, used] : after)
    out.push_back({.name = name_of(thread), .fraction = (used - seconds_of(thread, before)) / wall_s});
  std::ranges::stable_sort(out, std::greater(), &thread_use::fraction);
  return out;
}

}  // namespace quintet::bench
