// SPDX-License-Identifier: BSL-1.0
// calibration.cpp: simulates a fitted run, compares the CPU per
// request, corrects the cost, and repeats until they agree.
#include "forecast/calibration.hpp"

#include <algorithm>
#include <optional>

namespace quintet::bench::forecasting {
namespace {

constexpr int rounds = 5;
constexpr double least = 0.05;  // lower limit of a cost

struct fitted_runs {
  const observation *lone, *few, *many, *work;
};

std::optional<fitted_runs> runs_of(unsigned model, const observed& o) {
  const fitted_runs out{o.find(model, "echo", 1), o.find(model, "echo", static_cast<unsigned>(request_cost::few)),
                        o.find(model, "echo", static_cast<unsigned>(request_cost::many)),
                        o.find(model, fitted_handler, 100)};
  if (!out.lone || !out.few || !out.many || !out.work) return std::nullopt;
  return out;
}

void correct(double& cost, double by, double floor = least) { cost = std::max(floor, cost + by); }

class fitting {
 public:
  fitting(machine_costs& costs, unsigned model, const fitted_runs& runs, const observed& o)
      : costs_(costs), of_(costs.models[model - 1]), runs_(runs), o_(o) {
    of_.loop = {runs.few->loop_cpu, runs.many->loop_cpu};
    of_.client = {runs.few->client_cpu, runs.many->client_cpu};
    of_.worker = runs.few->worker_cpu;
    of_.expensive_loop = runs.few->loop_cpu;
    of_.expensive_worker = std::max(least, runs.work->worker_cpu - runs.work->handler * costs.work_factor);
  }

  void fit() {
    for (int i = 0; i < rounds; ++i) {
      const auto few = simulated(runs_.few), many = simulated(runs_.many);
      correct(of_.loop.at_few, runs_.few->loop_cpu - few.loop_cpu);
      correct(of_.client.at_few, runs_.few->client_cpu - few.client_cpu);
      // More connections make no request cheaper. Without this bound there is a second solution: a faster server that
      // sleeps and is woken more often.
      correct(of_.loop.at_many, runs_.many->loop_cpu - many.loop_cpu, of_.loop.at_few);
      correct(of_.client.at_many, runs_.many->client_cpu - many.client_cpu, of_.client.at_few);
      if (few.worker_cpu > 0) correct(of_.worker, runs_.few->worker_cpu - few.worker_cpu);
      fit_lone();
      fit_work();
    }
    of_.known = true;
  }

 private:
  sim_outcome simulated(const observation* run) const { return simulate(costs_, scenario_of(*run, o_)); }

  // Fits the costs of a lone request: of waking and, with a pool, of the handoff.
  void fit_lone() {
    const auto lone = simulated(runs_.lone);
    const double server = runs_.lone->loop_cpu + runs_.lone->worker_cpu - lone.server_cpu();
    if (lone.worker_cpu > 0) {
      of_.resume = costs_.models[1].resume;
      correct(of_.handoff, server, 0);
    } else {
      correct(of_.resume, server, 0);
    }
    correct(of_.client_resume, runs_.lone->client_cpu - lone.client_cpu, 0);
    // One wake-up of the server and one of the client.
    of_.wake_extra += (1e6 / runs_.lone->requests_per_s - 1e6 / lone.requests_per_s) / 2;
  }

  void fit_work() {
    const auto work = simulated(runs_.work);
    correct(of_.expensive_loop, runs_.work->loop_cpu - work.loop_cpu);
    if (work.worker_cpu > 0) correct(of_.expensive_worker, runs_.work->worker_cpu - work.worker_cpu);
  }

  machine_costs& costs_;
  model_costs& of_;
  const fitted_runs& runs_;
  const observed& o_;
};

}  // namespace

scenario scenario_of(const observation& run, const observed& o) {
  scenario out{.model = run.model,
               .cores = run.shared ? o.cpus : 1,
               .loops = run.shared ? o.cpus : 1,
               .workers = run.shared ? o.cpus : 4,
               .connections = run.connections,
               .handler = run.handler,
               .client = run.shared ? client_place::shared_cores : client_place::own_cores,
               .client_threads = run.shared ? 1 : o.client_cpus};
  out.warm_up = std::max(out.warm_up, 4 * run.connections);
  return out;
}

void calibrate(machine_costs& costs, const observed& o) {
  for (const unsigned model : {2U, 1U, 4U, 5U, 3U}) {  // model 3 uses the resume cost of model 2
    if (const auto runs = runs_of(model, o)) fitting(costs, model, *runs, o).fit();
  }
}

}  // namespace quintet::bench::forecasting
