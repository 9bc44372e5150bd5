// SPDX-License-Identifier: BSL-1.0
// proc_reading.cpp: /proc/PID/task/*/{status,sched,schedstat}, /proc/PID/stat, /proc/softirqs and /proc/stat.
#include "study/proc_reading.hpp"

#include "input_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "compare/child_process.hpp"

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

// Returns the number in the line that begins with the key: "nr_switches : 17", "voluntary_ctxt_switches: 5".
std::optional<double> number_in(const fs::path& file_name, std::string_view key) {
  std::ifstream file(file_name);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::strtod(line.c_str() + line.find(':') + 1, nullptr);
  }
  return std::nullopt;
}

task_reading read_task(const fs::path& task, proc_reading& of) {
  task_reading out;
  out.voluntary = number_in(task / "status", "voluntary_ctxt_switches:").value_or(0);
  out.involuntary = number_in(task / "status", "nonvoluntary_ctxt_switches:").value_or(0);
  const auto moved = number_in(task / "sched", "se.nr_migrations");
  out.migrations = moved.value_or(0);
  std::ifstream file(task / "schedstat");  // ns on a CPU, ns waiting for one, time slices
  double ran = 0, slices = 0;
  const bool known = static_cast<bool>(file >> ran >> out.queued_ns >> slices);
  of.has_migrations = of.has_migrations || moved;
  of.has_queue = of.has_queue || known;
  return out;
}

// Reads minflt and majflt, the 10th and 12th field, of all threads including ended ones.
double read_faults(pid_t pid) {
  const std::string text = read_if_possible(fmt::format("/proc/{}/stat", pid));
  const auto after_name = text.rfind(')');
  if (after_name == text.npos) throw run_error("the server has ended");
  std::istringstream fields(text.substr(after_name + 1));
  std::string skipped;
  for (int field = 3; field < 10; ++field) fields >> skipped;
  double minor = 0, major = 0;
  fields >> minor >> skipped >> major;
  return minor + major;
}

double read_received() {
  std::ifstream file("/proc/softirqs");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    if (!(fields >> name) || name != "NET_RX:") continue;
    double sum = 0;
    for (double count = 0; fields >> count;) sum += count;
    return sum;
  }
  return 0;
}

// Reads the seventh number of the first line of /proc/stat: user nice system idle iowait irq softirq.
double read_softirq_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double ticks = 0;
  file >> name;
  for (int field = 0; field < 7; ++field) file >> ticks;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

proc_reading read_proc(pid_t pid) {
  proc_reading out;
  out.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", pid), gone))
    out.tasks[static_cast<pid_t>(std::stol(task.path().filename()))] = read_task(task.path(), out);
  out.page_faults = read_faults(pid);
  out.received_softirqs = read_received();
  out.softirq_s = read_softirq_seconds();
  return out;
}

std::map<std::string, double, std::less<>> per_request(const proc_reading& before, const proc_reading& after,
                                                       double requests, double window_s) {
  std::map<std::string, double, std::less<>> out;
  const double wall_s = after.wall_s - before.wall_s;
  if (requests <= 0 || wall_s <= 0) return out;
  const double each = window_s / wall_s / requests;
  out["page_faults_per_request"] = (after.page_faults - before.page_faults) * each;
  out["net_rx_softirqs_per_request"] = (after.received_softirqs - before.received_softirqs) * each;
  out["softirq_us_per_request"] = (after.softirq_s - before.softirq_s) * 1e6 * each;
  task_reading sum;
  for (const auto& [id, task] : before.tasks) {
    if (!after.tasks.contains(id)) return out;
  }
  for (const auto& [id, task] : after.tasks) {
    const auto earlier = before.tasks.find(id);
    const auto was = earlier == before.tasks.end() ? task_reading{} : earlier->second;
    sum.voluntary += task.voluntary - was.voluntary;
    sum.involuntary += task.involuntary - was.involuntary;
    sum.migrations += task.migrations - was.migrations;
    sum.queued_ns += task.queued_ns - was.queued_ns;
  }
  out["voluntary_switches_per_request"] = sum.voluntary * each;
  out["involuntary_switches_per_request"] = sum.involuntary * each;
  if (after.has_migrations) out["migrations_per_request"] = sum.migrations * each;
  if (after.has_queue) out["run_queue_us_per_request"] = sum.queued_ns / 1e3 * each;
  return out;
}

}  // namespace quintet::bench
