// SPDX-License-Identifier: BSL-1.0
// compare.cpp: performs all runs of a plan, one after the other.
#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/environment.hpp"
#include "compare/interruption.hpp"
#include "compare/plan.hpp"
#include "compare/progress.hpp"
#include "compare/runner.hpp"
#include "compare/syscall_counter.hpp"
#include "report/summary.hpp"
#include "report/text.hpp"

#ifndef QUINTET_BENCH_VERSION
#define QUINTET_BENCH_VERSION "0"
#endif

namespace quintet::bench {
namespace {

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::string outcome(const planned_run& run, const run_result& result) {
  if (result.error) return "failed: " + *result.error;
  if (result.instructions_per_request) return grouped(*result.instructions_per_request) + " instructions a request";
  if (run.counting()) return significant(result.syscalls_per_request.value_or(0)) + " system calls a request";
  const auto lost = result.failed.value_or(0);
  return grouped(result.requests_per_s.value_or(0)) + " requests/s" +
         (lost > 0 ? ", " + grouped(lost) + " failed" : "");
}

// Copies the counts of the counting pass to every round of its combination. A failed pass leaves null.
void take_counts(std::vector<run_result>& results, const run_result& counted) {
  for (auto& result : results) {
    if (!same_combination(result, counted) || result.error) continue;
    result.syscalls_per_request = counted.syscalls_per_request;
    result.futex_per_request = counted.futex_per_request;
    result.accept_wakes_per_connection = counted.accept_wakes_per_connection;
  }
}

boost::json::object describe(const compare_settings& s, bool was_interrupted) {
  boost::json::object out;
  out["rounds"] = s.rounds;
  out["duration_s"] = seconds(s.duration);
  out["warm_up_s"] = seconds(s.warm_up);
  out["seed"] = s.seed;
  out["quick"] = s.quick;
  out["interrupted"] = was_interrupted;
  out["counters"] = !s.counters                            ? "left out"
                    : !syscall_counter::obstacle().empty() ? "not measured: " + syscall_counter::obstacle()
                    : syscall_counter::by_strace()
                        ? "by strace, in one separate pass for each combination, the same in all its rounds"
                        : "one separate pass for each combination, the same in all its rounds";
  return out;
}

void perform_all(const compare_settings& s, const measure_function& measure, const std::vector<planned_run>& plan,
                 std::vector<run_result>& results) {
  progress shown(plan.size(), expected_seconds(s, plan));
  for (const auto& run : plan) {
    if (interruption_guard::happened()) throw interrupted();
    shown.begins(run.label());
    auto result = perform(s, run, measure);
    shown.done(run.label(), outcome(run, result), expected_seconds(s, run));
    if (run.counting()) {
      take_counts(results, result);
    } else {
      results.push_back(std::move(result));
    }
  }
}

// Sorts by workload and contender, because the runs were in random order.
void sort_results(std::vector<run_result>& results, const compare_settings& s) {
  const auto place_of = [&](const run_result& r) {
    const auto work = std::find_if(s.workloads.begin(), s.workloads.end(), [&](const workload& w) {
      return w.name == r.workload && w.connections == r.connections && w.pipeline == r.pipeline &&
             static_cast<double>(w.message_bytes) == r.message_bytes;
    });
    const auto who = std::find_if(s.contenders.begin(), s.contenders.end(),
                                  [&](const contender& c) { return c.label() == label_of(r); });
    return std::tuple(r.round, work, who);
  };
  std::sort(results.begin(), results.end(),
            [&](const run_result& a, const run_result& b) { return place_of(a) < place_of(b); });
}

}  // namespace

comparison_outcome compare(const compare_settings& asked, const measure_function& measure) {
  compare_settings s = asked;
  if (s.counters && !syscall_counter::obstacle().empty()) {
    fmt::print(stderr, "System calls are not counted: {}.\n", syscall_counter::obstacle());
    s.counters = false;
  }
  const auto plan = make_plan(s);
  fmt::print(stderr, "{} runs, about {:.0f} s; order by seed {}. Ctrl-C ends early and keeps the results so far.\n",
             plan.size(), std::ceil(expected_seconds(s, plan)), s.seed);
  const environment machine;
  const interruption_guard guard;
  comparison_outcome out;
  try {
    perform_all(s, measure, plan, out.found.results);
  } catch (const interrupted&) {
    out.interrupted = true;
    fmt::print(stderr, "Interrupted: these are the results so far.\n");
  }
  sort_results(out.found.results, s);
  out.found.version = QUINTET_BENCH_VERSION;
  out.found.environment = machine.finish();
  out.found.settings = describe(asked, out.interrupted);
  return out;
}

}  // namespace quintet::bench
