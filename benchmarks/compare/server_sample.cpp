// SPDX-License-Identifier: BSL-1.0
// server_sample.cpp: CPU time, threads, memory and context switches of another process.
#include "compare/server_sample.hpp"

#include "input_file.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compare/child_process.hpp"

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

double seconds(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) throw run_error("the server has ended");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Reads utime and stime, the 14th and 15th field. The second field, the name, may contain spaces.
void read_ticks(pid_t pid, server_sample& into) {
  const std::string text = read_if_possible(fmt::format("/proc/{}/stat", pid));
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return;
  std::istringstream fields(text.substr(after_name + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  into.user_ticks += user;
  into.system_ticks += system;
}

std::uint64_t read_switches(const fs::path& status_file) {
  std::ifstream file(status_file);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("voluntary_ctxt_switches:") != std::string::npos) sum += std::stoull(line.substr(line.find(':') + 1));
  }
  return sum;
}

// Adds the process and its children, for servers whose workers are processes.
void add_process(pid_t pid, server_sample& into) {
  clockid_t cpu_clock{};
  if (::clock_getcpuclockid(pid, &cpu_clock) != 0) throw run_error("the server has ended");
  into.cpu_s += seconds(cpu_clock);
  read_ticks(pid, into);
  std::ifstream memory(fmt::format("/proc/{}/statm", pid));
  double total = 0, resident = 0;
  memory >> total >> resident;
  into.rss_bytes += resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
    into.switches[static_cast<pid_t>(std::stol(task.path().filename()))] = read_switches(task.path() / "status");
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) add_process(child, into);
  }
}

// Returns nullopt if a thread has ended in between, because its count is lost.
measurement switches_between(const server_sample& before, const server_sample& after) {
  double sum = 0;
  for (const auto& [thread, count] : after.switches) sum += static_cast<double>(count);
  for (const auto& [thread, count] : before.switches) {
    if (!after.switches.contains(thread)) return std::nullopt;
    sum -= static_cast<double>(count);
  }
  return sum;
}

}  // namespace

server_sample sample_server(pid_t pid) {
  server_sample out;
  out.wall_s = seconds(CLOCK_MONOTONIC);
  out.machine = read_machine_seconds();
  add_process(pid, out);
  out.threads_s = read_thread_seconds(pid);
  out.threads = static_cast<double>(out.switches.size());
  return out;
}

void fill_server_figures(run_result& result, pid_t server, const server_sample& before, const server_sample& after,
                         double window_s) {
  result.server_threads = after.threads;
  result.server_rss_bytes = after.rss_bytes;
  const double requests = result.requests.value_or(0);
  const double wall_s = after.wall_s - before.wall_s;
  if (requests <= 0 || wall_s <= 0) return;
  const double windows = window_s / wall_s;  // near 1
  const double cpu_us = (after.cpu_s - before.cpu_s) * windows * 1e6 / requests;
  result.server_cpu_us_per_request = cpu_us;
  const double user = after.user_ticks - before.user_ticks;
  const double ticks = user + after.system_ticks - before.system_ticks;
  // The kernel samples the running thread once a tick, so fewer samples are not significant.
  constexpr double enough_ticks = 20;
  if (ticks >= enough_ticks) result.server_user_us_per_request = cpu_us * user / ticks;
  const double client_s = result.client_cpu_us_per_request.value_or(0) * requests / 1e6 / windows;
  const double foreign_s = after.machine.busy - before.machine.busy - (after.cpu_s - before.cpu_s) - client_s;
  const double all_s = wall_s * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  result.machine_softirq_fraction = (after.machine.softirq - before.machine.softirq) / all_s;
  result.machine_busy_fraction = std::min(1.0, (after.machine.busy - before.machine.busy) / all_s);
  if (!after.threads_s.empty() && !before.threads_s.empty())
    result.server_busy_fraction = utilization_of(server, before.threads_s, after.threads_s, wall_s);
  result.foreign_cpu_fraction = std::clamp(foreign_s / all_s, 0.0, 1.0);
  if (const auto switches = switches_between(before, after)) {
    result.context_switches_per_request = *switches * windows / requests;
  }
}

}  // namespace quintet::bench
