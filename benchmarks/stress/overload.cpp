// SPDX-License-Identifier: BSL-1.0
// overload.cpp: many more connections than the server can serve within a second, each with a request at all times.
// Models with a pool shed requests; in the other models all wait.
#include "load/run.hpp"
#include "stress/server_under_stress.hpp"

#include <algorithm>

namespace quintet::bench {
namespace {

constexpr const char* overloading_work = "cpu:2ms";

bool has_pool(const std::string& model) { return model == "reactor_pool" || model == "loop_per_thread_pool"; }

load_settings overload(const stress_run& run, const server_under_stress& server) {
  load_settings s;
  s.target = server.where();
  s.work = require_workload(overloading_work);
  s.work.connections = run.peers;
  s.duration = run.window;
  s.warm_up = std::chrono::seconds(2);  // the first requests arrive all at once
  return s;
}

}  // namespace

void stress_overload(stress_run& run) {
  server_under_stress server(run, {}, std::nullopt, overloading_work);
  load_result all;
  const load_settings settings = overload(run, server);
  for (unsigned round = 1; round <= run.settings.rounds; ++round) {
    run.progress("round " + std::to_string(round));
    const load_result r = run_load(settings);
    run.check_time();
    server.check();
    all.requests += r.requests;
    all.shed += r.shed;
    all.over_1s += r.over_1s;
    all.failed += r.failed;
    if (all.first_failure.empty()) all.first_failure = r.first_failure;
    all.latencies.merge(r.latencies);
  }
  run.found.tell("overloading", "connections, each with a request of 2 ms of computing all the time", run.peers);
  run.found.tell("served", "requests served", static_cast<double>(all.requests));
  run.found.tell("shed", "requests answered at once by the server's being overloaded", static_cast<double>(all.shed));
  run.found.tell("served_p99_ms", "p99 of those served", static_cast<double>(all.latencies.percentile(99)) / 1e6, "ms");
  const char* const label = "answers of either kind that took longer than a second";
  if (has_pool(run.model))
    run.found.exactly("over_1s", label, static_cast<double>(all.over_1s), 0);
  else
    run.found.tell("over_1s", label, static_cast<double>(all.over_1s));
  run.found.exactly("lost", "requests without an answer", static_cast<double>(all.failed), 0);
  if (all.failed > 0) run.found.remark("the first of them: " + all.first_failure);
}

}  // namespace quintet::bench
