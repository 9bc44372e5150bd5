// SPDX-License-Identifier: BSL-1.0
// observations.cpp: performs runs on one CPU and on all, and measures the CPU time of the server's workers.
#include "forecast/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "compare/plan.hpp"
#include "compare/server_sample.hpp"
#include "report/models.hpp"
#include "report/summary.hpp"

namespace quintet::bench::forecasting {
namespace {

namespace fs = std::filesystem;

struct planned {
  const char* workload;
  unsigned connections;
  bool shared, fitted;
};
constexpr planned plan[]{
    {"echo", 1, false, true},           {"echo", 100, false, true},       {"echo", 1000, false, true},
    {fitted_handler, 100, false, true}, {"echo", 10, false, false},       {"echo", 30, false, false},
    {"echo", 300, false, false},        {"cpu:100us", 100, false, false}, {"cpu:200us", 100, false, false},
    {"cpu:500us", 100, false, false},   {"cpu:200us", 100, true, false},  {"echo", 100, true, false},
};

// Returns the CPU time of a process's workers. Its other threads receive and send.
double worker_seconds(pid_t server) {
  double sum = 0;
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", server), gone)) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (!name.starts_with("qnt-work")) continue;
    double ran_ns = 0;
    std::ifstream(task.path() / "schedstat") >> ran_ns;
    sum += ran_ns / 1e9;
  }
  return sum;
}

class worker_watch final : public server_observer {
 public:
  void begin(pid_t server) override {
    server_ = server;
    before_ = worker_seconds(server);
    from_ = sample_server(server).wall_s;
  }
  void end() override {
    used_ = worker_seconds(server_) - before_;
    wall_ = sample_server(server_).wall_s - from_;
  }
  // Returns microseconds per request, computed as a rate, because the client's window differs.
  double each(const run_result& r) const { return wall_ > 0 ? used_ / wall_ * 1e6 / *r.requests_per_s : 0; }

 private:
  pid_t server_ = 0;
  double before_ = 0, used_ = 0, from_ = 0, wall_ = 0;
};

// Returns a key for values measured beside a run's result.
std::string key(const run_result& r) {
  return fmt::format("{} {} {} {} {}", *r.model, r.workload, *r.connections, r.loops.value_or(0), r.round);
}

compare_settings one_server_cpu(compare_settings s) {
  s.one_cpu = true;
  s.counters = false;
  return s;
}

double value(const combination& c, measurement run_result::* field) {
  const auto& found = c[field];
  return found ? found->median : 0;
}

// Returns the combination's undisturbed rounds, or all if every one was disturbed.
std::vector<run_result> rounds_of(const combination& c, const std::vector<run_result>& all) {
  std::vector<run_result> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const run_result& r) { return !r.error && same_combination(c.first, r); });
  const auto first_disturbed = std::stable_partition(out.begin(), out.end(), std::not_fn(is_disturbed));
  if (first_disturbed != out.begin()) out.erase(first_disturbed, out.end());
  return out;
}

observation observe_row(const combination& c, bool fitted, double worker) {
  observation out;
  const auto at = std::find(model_names.begin(), model_names.end(), *c.first.model);
  out.model = static_cast<unsigned>(at - model_names.begin()) + 1;
  out.workload = c.first.workload;
  out.handler = c.first.handler_us.value_or(0);
  out.connections = static_cast<unsigned>(*c.first.connections);
  out.shared = *c.first.loops > 1;
  out.requests_per_s = value(c, &run_result::requests_per_s);
  out.spread = c[&run_result::requests_per_s]->spread();
  out.p99 = value(c, &run_result::p99_us);
  out.worker_cpu = worker;
  out.loop_cpu = std::max(0.0, value(c, &run_result::server_cpu_us_per_request) - worker);
  out.client_cpu = value(c, &run_result::client_cpu_us_per_request);
  out.fitted = fitted;
  out.disturbed = is_disturbed(c.first);
  return out;
}

void observe_short(observed& into, compare_settings s, quiet_moments& moments) {
  s.workloads = {require_workload("short")};
  s.contenders = {{.model = std::string(model_names[3])}};
  auto found =
      compare(s, [&](run_result& r, const compare_settings& all, const planned_run& run, const placement& where) {
        server_observer no_observer;
        moments.measure(r, all, run, where, no_observer);
      });
  for (const combination& c : summarise(found.found.results)) {
    if (c.rounds > 0) into.short_cpu = value(c, &run_result::server_cpu_us_per_request);
  }
  into.runs.interrupted = found.interrupted;
  into.runs.found.results.insert(into.runs.found.results.end(), found.found.results.begin(), found.found.results.end());
}

}  // namespace

const observation* observed::find(unsigned model, const std::string& workload, unsigned connections) const {
  const auto found = std::find_if(all.begin(), all.end(), [&](const observation& o) {
    return !o.shared && o.model == model && o.workload == workload && o.connections == connections;
  });
  return found == all.end() ? nullptr : &*found;
}

observed observe(compare_settings settings, quiet_moments& moments) {
  const auto cpus = allowed_cpus();
  auto s = one_server_cpu(std::move(settings));
  for (const planned& p : plan) {
    workload w = require_workload(p.workload);
    w.connections = p.connections;
    if (p.shared) w.threads = static_cast<unsigned>(cpus.size());
    s.workloads.push_back(std::move(w));
  }
  s.contenders = contenders_of({model_names.begin(), model_names.end()}, false);
  auto apart = place(require_workload("echo"), cpus);
  apart.server.resize(1);
  const placement together{cpus, cpus};
  std::map<std::string, double> workers;
  observed out;
  out.cpus = static_cast<unsigned>(cpus.size());
  out.client_cpus = static_cast<unsigned>(apart.client.size());
  out.runs = compare(s, [&](run_result& r, const compare_settings& all, const planned_run& run, const placement&) {
    const placement& where = run.work->threads ? together : apart;
    r.server_cpus = cpu_text(where.server);
    r.client_cpus = cpu_text(where.client);
    worker_watch watch;
    moments.measure(r, all, run, where, watch);
    workers[key(r)] = watch.each(r);
  });
  const auto summary = summarise(out.runs.found.results);
  for (const planned& p : plan) {
    for (const combination& c : summary) {
      const bool shared = *c.first.loops > 1;
      if (c.rounds == 0 || p.shared != shared || p.workload != c.first.workload ||
          p.connections != *c.first.connections)
        continue;
      const auto rounds = rounds_of(c, out.runs.found.results);
      std::vector<double> of_workers;
      for (const run_result& r : rounds) of_workers.push_back(workers[key(r)]);
      out.all.push_back(observe_row(summarise(rounds).front(), p.fitted, summarise_samples(of_workers)->median));
    }
  }
  if (!out.runs.interrupted) observe_short(out, s, moments);
  return out;
}

}  // namespace quintet::bench::forecasting
