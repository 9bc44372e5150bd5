// SPDX-License-Identifier: BSL-1.0
// study.cpp: rounds of a server under load, then a separate run for each tool that would disturb them.
#include "study/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "compare/interruption.hpp"
#include "compare/plan.hpp"
#include "compare/progress.hpp"
#include "compare/runner.hpp"
#include "compare/scratch_file.hpp"
#include "compare/syscall_counter.hpp"
#include "compare/valgrind.hpp"
#include "report/text.hpp"
#include "study/figures.hpp"
#include "study/perf_tool.hpp"
#include "study/proc_reading.hpp"

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto enough_for_samples = 1s;  // of a profile: some hundred samples
constexpr std::size_t most_functions = 12, most_locks = 6;

// The same cache hierarchy on all machines, so that figures repeat. By default valgrind takes this machine's, which a
// virtual machine may invent.
const std::vector<std::string> simulation{"--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null",
                                          "--I1=32768,8,64",   "--D1=32768,8,64", "--LL=1048576,16,64"};

subject& subject_of(std::vector<subject>& all, const planned_run& run) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const subject& s) { return s.server == run.who.label(); });
  if (found != all.end()) return *found;
  all.emplace_back();
  all.back().workload = run.work->name;
  all.back().server = run.who.label();
  return all.back();
}

// Reads /proc and hardware counters in every round, because that disturbs no server.
class round_observer final : public server_observer {
 public:
  explicit round_observer(bool hardware) : hardware_(hardware) {}

  void begin(pid_t server) override {
    server_ = server;
    if (hardware_) counters_.begin(server);
    before_ = read_proc(server);
  }
  void end() override {
    after_ = read_proc(server_);
    if (hardware_) counters_.end();
  }
  void fill(subject& into, const run_result& r) const {
    const double requests = r.requests.value_or(0);
    for (const auto& [key, value] : per_request(before_, after_, requests, r.duration_s.value_or(0)))
      into.figures[key].push_back(value);
    if (!hardware_) return;
    const auto counts = parse_perf_stat(counters_.said());
    const auto count = [&](std::string_view event) {
      const auto found = counts.find(event);
      return found == counts.end() ? std::nullopt : found->second;
    };
    const auto references = count("cache-references"), misses = count("cache-misses");
    if (!references || !misses) return;
    into.cache_source = "hardware";
    into.caches.push_back({*references, *misses, r.server_cpu_us_per_request.value_or(0) * requests / 1e6, requests});
  }

 private:
  bool hardware_;
  pid_t server_ = 0;
  proc_reading before_, after_;
  perf_window counters_{{"stat", "-x,", "-e", hardware_events}};
};

// A separate run of each server with one tool.
struct pass {
  std::string what;      // "hottest functions"
  std::string obstacle;  // empty if the tool works
  std::function<void(subject&, run_result&, const compare_settings&, const planned_run&, const placement&)> measure;
  double extra_seconds;  // in addition to a plain run
};

void profile(subject& into, run_result& r, const compare_settings& s, const planned_run& run, const placement& where) {
  const scratch_file samples("perf");
  perf_window perf({"record", "-q", "-e", "cpu-clock", "-F", "999", "-o", samples.path()});
  measure_load_observed(r, s, run, where, perf);
  into.functions = parse_perf_report(perf_output(
      {"report", "-i", samples.path(), "--stdio", "--no-children", "-g", "none", "-F", "overhead,sym,dso", "-t", "|"}));
  if (into.functions.empty())
    throw run_error("perf record took no samples in so short a time; give a longer --duration");
  into.functions.resize(std::min(into.functions.size(), most_functions));
}

void watch_locks(subject& into, run_result& r, const compare_settings& s, const planned_run& run,
                 const placement& where) {
  const scratch_file events("perf");
  perf_window perf({"lock", "record", "-q", "-o", events.path()});
  measure_load_observed(r, s, run, where, perf);
  if (events.text().empty()) throw run_error(explain_perf(perf.said()));
  into.locks = parse_lock_contention(perf_output({"lock", "contention", "-i", events.path()}));
  double waits = 0, us = 0;
  for (const lock_wait& one : into.locks) waits += one.waits, us += one.microseconds;
  into.figures["lock_waits_per_request"] = {waits / *r.requests};
  into.figures["lock_wait_us_per_request"] = {us / *r.requests};
  into.locks.resize(std::min(into.locks.size(), most_locks));
}

void simulate(subject& into, run_result& r, const compare_settings& s, const planned_run& run, const placement&) {
  r.server_cpus = r.client_cpus = std::to_string(cpu_under_valgrind());
  const auto load = bounded_load_of(*run.work);
  const auto command = server_command(s, run, r);
  const auto few = parse_cachegrind(log_under_valgrind(simulation, command, *run.work, load.few));
  const auto many = parse_cachegrind(log_under_valgrind(simulation, command, *run.work, load.many));
  r.requests = load.requests_between();
  into.cache_source = "simulated";
  into.caches = {{std::max(0.0, many.references - few.references), std::max(0.0, many.misses - few.misses), 0,
                  load.requests_between()}};
}

std::string simulation_obstacle(const compare_settings& s) {
  if (s.workloads.front().kind != work_kind::echo) return "cachegrind's load only echoes, so not this workload";
  if (s.engine == engine_kind::uring) return "valgrind knows nothing of io_uring; use another --engine";
  return valgrind_obstacle();
}

std::vector<pass> passes_of(const compare_settings& s, const std::string& hardware) {
  const auto perf = perf_obstacle();
  std::vector<pass> out{{"hottest functions", perf, profile, 1},
                        {"waits for the kernel's locks", perf, watch_locks, 1}};
  if (!hardware.empty()) out.push_back({"simulated caches", simulation_obstacle(s), simulate, 6});
  return out;
}

// Adds the line if it is not there yet.
void tell(std::vector<std::string>& to, std::string line) {
  if (std::find(to.begin(), to.end(), line) == to.end()) to.push_back(std::move(line));
}

void perform_pass(study_outcome& out, const pass& p, const compare_settings& s, const planned_run& run,
                  progress& shown) {
  if (interruption_guard::happened()) throw interrupted();
  const auto label = fmt::format("{} ({})", run.who.label(), p.what);
  const double expected = expected_seconds(s, run) + p.extra_seconds;
  shown.begins(label);
  const auto result = perform(
      s, run, [&](run_result& r, const compare_settings& settings, const planned_run& planned, const placement& where) {
        p.measure(subject_of(out.subjects, run), r, settings, planned, where);
      });
  shown.done(label, result.error ? "failed: " + *result.error : "done", expected);
  if (result.error) tell(out.not_measured, fmt::format("{} of {}: {}", p.what, run.who.label(), *result.error));
}

void perform_passes(study_outcome& out, const compare_settings& asked, const std::vector<pass>& passes) {
  compare_settings s = asked;
  s.duration = std::max<std::chrono::nanoseconds>(s.duration, enough_for_samples);
  const interruption_guard guard;
  std::vector<planned_run> runs;
  for (const contender& who : s.contenders) runs.push_back({&s.workloads.front(), who, 1});
  std::size_t count = 0;
  double seconds = 0;
  for (const pass& p : passes) {
    if (!p.obstacle.empty()) {
      tell(out.not_measured, p.what + ": " + p.obstacle);
      continue;
    }
    count += runs.size();
    seconds += static_cast<double>(runs.size()) * (expected_seconds(s, runs.front()) + p.extra_seconds);
  }
  progress shown(count, seconds);
  try {
    for (const pass& p : passes) {
      if (!p.obstacle.empty()) continue;
      for (const planned_run& run : runs) perform_pass(out, p, s, run, shown);
    }
  } catch (const interrupted&) {
    out.compared.interrupted = true;
    out.compared.found.settings["interrupted"] = true;
  }
}

// Copies the figures that compare() has measured. Adds a line for each figure that the kernel does not provide.
void complete_figures(study_outcome& out, const std::vector<workload>& workloads) {
  for (const run_result& r : out.compared.found.results) {
    if (r.error) continue;
    contender who{r.model.value_or(""), r.peer.value_or(""), r.engine.value_or("automatic"),
                  r.handler.value_or("callback")};
    subject& into = subject_of(out.subjects, {&workloads.front(), who, 1});
    for (const figure& f : study_figures()) {
      if (f.field && r.*f.field) into.figures[std::string(f.key)].push_back(*(r.*f.field));
    }
  }
  for (const figure& f : study_figures()) {
    const bool any = std::any_of(out.subjects.begin(), out.subjects.end(),
                                 [&](const subject& s) { return s.figures.contains(f.key); });
    const bool by_perf = f.key.starts_with("lock_");  // perf's own obstacle explains these
    if (!any && !by_perf && !f.field)
      tell(out.not_measured, fmt::format("{}: this kernel does not tell it in {}", f.title, f.source));
  }
}

}  // namespace

study_outcome study(const compare_settings& s) {
  study_outcome out;
  const auto hardware = hardware_obstacle();
  if (!hardware.empty()) {
    out.not_measured.push_back("hardware counters: " + hardware);
    out.not_measured.emplace_back(
        "false sharing between cores: only hardware counters show it; a simulation has one cache for all threads "
        "(study --false-sharing plants one)");
  }
  if (s.counters && !syscall_counter::obstacle().empty())
    out.not_measured.push_back("system calls and futex calls: " + syscall_counter::obstacle());
  for (const contender& who : s.contenders) subject_of(out.subjects, {&s.workloads.front(), who, 1});
  out.compared =
      compare(s, [&](run_result& r, const compare_settings& settings, const planned_run& run, const placement& where) {
        if (run.counting()) return measure_load(r, settings, run, where);
        round_observer looks(hardware.empty());
        measure_load_observed(r, settings, run, where, looks);
        looks.fill(subject_of(out.subjects, run), r);
      });
  out.compared.found.command = "study";
  complete_figures(out, s.workloads);
  if (!out.compared.interrupted) perform_passes(out, s, passes_of(s, hardware));
  return out;
}

}  // namespace quintet::bench
