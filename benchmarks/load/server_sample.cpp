// SPDX-License-Identifier: BSL-1.0
// server_sample.cpp: CPU time, threads, memory and context switches of another process, from /proc.
#include "load/server_sample.hpp"

#include "input_file.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

std::optional<double> seconds(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
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

// Adds the process and its children, for servers whose workers are processes. Returns false if it has ended.
bool add_process(pid_t pid, server_sample& into) {
  clockid_t cpu_clock{};
  const auto used = ::clock_getcpuclockid(pid, &cpu_clock) == 0 ? seconds(cpu_clock) : std::nullopt;
  if (!used) return false;
  into.cpu_s += *used;
  read_ticks(pid, into);
  std::ifstream memory(fmt::format("/proc/{}/statm", pid));
  double total = 0, resident = 0;
  memory >> total >> resident;
  into.rss_bytes += resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
    const auto thread = static_cast<pid_t>(std::stol(task.path().filename()));
    into.switches[thread] = read_switches(task.path() / "status");
    std::ifstream schedule(task.path() / "schedstat");  // ns on a CPU, ns waiting for one, time slices
    if (double ran_ns = 0; schedule >> ran_ns) into.threads[thread] = ran_ns / 1e9;
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) add_process(child, into);
  }
  return true;
}

std::optional<double> switches_between(const server_sample& before, const server_sample& after) {
  double sum = 0;
  for (const auto& [thread, count] : after.switches) sum += static_cast<double>(count);
  for (const auto& [thread, count] : before.switches) {
    if (!after.switches.contains(thread)) return std::nullopt;
    sum -= static_cast<double>(count);
  }
  return sum;
}

/// Returns the number after the first "key" in the text.
std::optional<double> number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == text.npos) return std::nullopt;
  std::istringstream rest{std::string(text.substr(at + key.size()))};
  double value = 0;
  return rest >> value ? std::optional(value) : std::nullopt;
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

std::optional<server_sample> sample_server(pid_t server) {
  server_sample out;
  out.wall_s = seconds(CLOCK_MONOTONIC).value_or(0);
  if (!add_process(server, out)) return std::nullopt;
  out.disk = parse_process_io(read_if_possible(fmt::format("/proc/{}/io", server)));
  return out;
}

server_use use_between(const server_sample& before, const server_sample& after) {
  constexpr double enough_ticks = 20;  // the kernel samples the running thread once a tick; fewer are not significant
  server_use out{.seconds = after.wall_s - before.wall_s,
                 .cpu_s = after.cpu_s - before.cpu_s,
                 .user_fraction = std::nullopt,
                 .threads = static_cast<double>(after.switches.size()),
                 .rss_bytes = after.rss_bytes,
                 .switches = switches_between(before, after)};
  const double user = after.user_ticks - before.user_ticks;
  const double ticks = user + after.system_ticks - before.system_ticks;
  if (ticks >= enough_ticks) out.user_fraction = user / ticks;
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
  out.disk_stall = parse_disk_stall(read_if_possible("/proc/pressure/io"));
  return out;
}

std::optional<disk_bytes> parse_process_io(std::string_view text) {
  const auto read = number_after(text, "\nread_bytes:"), written = number_after(text, "\nwrite_bytes:");
  if (!read || !written) return std::nullopt;
  return disk_bytes{*read, *written};
}

std::optional<double> parse_disk_stall(std::string_view text) {
  const auto full = text.find("full ");
  const auto us = full == text.npos ? std::nullopt : number_after(text.substr(full), "total=");
  return us ? std::optional(*us / 1e6) : std::nullopt;
}

}  // namespace quintet::bench
