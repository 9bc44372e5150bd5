// SPDX-License-Identifier: BSL-1.0
// server_under_stress.cpp: starts, observes and stops the server.
#include "stress/server_under_stress.hpp"

#include "load/clock.hpp"
#include "load/connect.hpp"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <system_error>
#include <utility>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto patience = 15s;

std::vector<std::string> command(const stress_run& run, const std::string& counters, const std::string& workload,
                                 const std::vector<std::string>& options) {
  std::vector<std::string> out{run.settings.program,
                               "serve",
                               "--model",
                               run.model,
                               "--workload",
                               workload,
                               "--exit-with-parent",
                               "--json",
                               counters,
                               "--engine",
                               std::string(to_string(run.settings.engine))};
  if (run.settings.accept)
    out.insert(out.end(), {"--accept", std::string(to_string(*run.settings.accept)), "--strict"});
  if (run.settings.loops) out.insert(out.end(), {"--loops", std::to_string(*run.settings.loops)});
  if (run.settings.own_descriptors) out.emplace_back("--own-descriptors");
  out.insert(out.end(), options.begin(), options.end());
  return out;
}

std::size_t entries(const fs::path& folder) {
  std::error_code gone;
  std::size_t count = 0;
  for (fs::directory_iterator at(folder, gone); !gone && at != fs::directory_iterator(); at.increment(gone)) ++count;
  return count;
}

}  // namespace

server_under_stress::server_under_stress(const stress_run& run, const std::vector<std::string>& options,
                                         std::optional<memory_group> group, const std::string& workload)
    : run_(run),
      group_(std::move(group)),
      counters_("stress"),
      process_("the server", command(run, counters_.path(), workload, options)) {
  // Memory that the server has allocated so far is little, and stays charged to this process's group.
  if (group_ && !group_->take(process_.pid())) throw run_error("cannot put the server into the memory group");
  where_ = parse_endpoint(process_.await_line("listening on ", child_process::clock::now() + patience));
  target_ = resolve(where_);
  begun_ = sample_server(process_.pid());
  own_cpu_s_ = bench::cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

server_under_stress::~server_under_stress() { process_.stop(); }

void server_under_stress::check() {
  run_.check_time();
  const auto status = process_.poll_status();
  if (!status) return;
  std::string why = "the server " + process_.ending();
  if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL && group_ && group_->killed() > 0)
    why = fmt::format("the server was killed by the kernel: it needed more than the {} MiB of its memory group",
                      run_.settings.memory >> 20U);
  throw run_error(why);
}

// Other programs delay the good client, sometimes in one kind of company only.
void server_under_stress::tell_foreign_cpu() {
  const server_sample now = sample_server(process_.pid());
  const double ours = now.cpu_s - begun_.cpu_s + bench::cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - own_cpu_s_;
  const double cpus = (now.wall_s - begun_.wall_s) * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double foreign = std::clamp((now.machine.busy - begun_.machine.busy - ours) / cpus, 0.0, 1.0);
  run_.found.tell("foreign_cpu_percent", "CPU of the machine that other programs used", std::round(100 * foreign), "%");
}

boost::json::object server_under_stress::stop() {
  check();
  tell_foreign_cpu();
  process_.stop();
  const auto status = process_.poll_status();
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL)  // sent by stop() after two seconds
    throw run_error("the server did not stop within two seconds of SIGTERM");
  if (!status || *status != 0) throw run_error("after SIGTERM, the server " + process_.ending());
  return counters_.figures("the server");
}

fs::path server_under_stress::proc() const { return fmt::format("/proc/{}", process_.pid()); }

std::size_t server_under_stress::descriptors() {
  check();
  if (!run_.settings.own_descriptors) return entries(proc() / "fd");
  std::size_t sum = 0;  // over all tables; shared ones count more than once, which is fine for comparisons
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(proc() / "task", gone)) sum += entries(task.path() / "fd");
  return sum;
}

std::size_t server_under_stress::threads() {
  check();
  return entries(proc() / "task");
}

// "Rss: 1234 kB"
double server_under_stress::bytes_in(const char* file_name, const std::string& name) {
  check();
  std::ifstream file(proc() / file_name);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return 1024 * std::stod(line.substr(name.size()));
  throw run_error("the kernel does not report " + name);
}

// Exact, unlike the numbers in status and statm, which lag by some pages.
double server_under_stress::resident_bytes() { return bytes_in("smaps_rollup", "Rss:"); }
double server_under_stress::most_resident_bytes() { return bytes_in("status", "VmHWM:"); }

thread_seconds server_under_stress::cpu_seconds() {
  check();
  auto out = read_thread_seconds(process_.pid());
  if (out.empty()) throw run_error("the kernel has no schedstat of threads (CONFIG_SCHED_INFO)");
  return out;
}

double server_under_stress::busiest_while(const std::function<void()>& done) {
  const auto before = cpu_seconds();
  const auto from = now_ns();
  done();
  const auto after = cpu_seconds();
  return busiest_threads(before, after, static_cast<double>(now_ns() - from) / 1e9).front().fraction;
}

}  // namespace quintet::bench
