// SPDX-License-Identifier: BSL-1.0
// findings.cpp: calibrates, simulates the held-out runs, and then simulates machines that cannot be measured here.
#include "forecast/findings.hpp"

#include <algorithm>
#include <cmath>

#include "compare/interruption.hpp"
#include "forecast/calibration.hpp"
#include "report/statistics.hpp"

namespace quintet::bench::forecasting {
namespace {

void simulate_runs(findings& f) {
  for (const observation& run : f.seen.all) {
    evaluated_run evaluated{run, std::nullopt};
    if (f.costs.models[run.model - 1].known) evaluated.simulated = simulate(f.costs, scenario_of(run, f.seen));
    (run.fitted ? f.fitted : f.held_out).push_back(std::move(evaluated));
  }
}

scenario scenario_of(const question& q, unsigned model, unsigned cores, double handler) {
  scenario out{.model = model,
               .cores = cores,
               .loops = cores,
               .workers = cores,
               .connections = q.connections,
               .handler = handler,
               .client = client_place::ideal,
               .away = q.away};
  out.warm_up = std::max(out.warm_up, 4 * q.connections);
  out.requests = std::max(out.requests, 10 * q.connections);
  return out;
}

void look_ahead(findings& f) {
  for (const double handler : {0.0, f.asked.handler}) {
    for (unsigned model = 1; model <= model_names.size(); ++model) {
      if (!f.costs.models[model - 1].known) continue;
      for (const unsigned cores : f.asked.cores) {
        if (interruption_guard::happened()) return;
        f.forecast.push_back({model, cores, handler, simulate(f.costs, scenario_of(f.asked, model, cores, handler))});
      }
    }
  }
  if (!f.costs.models[3].known) return;
  if (f.seen.short_cpu) f.shapes.push_back(accept_shape(f.costs, *f.seen.short_cpu));
  f.shapes.push_back(io_context_shape(f.costs, f.asked.connections));
  f.shapes.push_back(shard_shape(f.costs, f.asked.connections));
}

std::optional<double> relative(double simulated, double measured) {
  return measured > 0 ? std::optional(simulated / measured - 1) : std::nullopt;
}

}  // namespace

std::optional<double> evaluated_run::error() const {
  return simulated ? relative(simulated->requests_per_s, run.requests_per_s) : std::nullopt;
}
std::optional<double> evaluated_run::p99_error() const {
  return simulated ? relative(simulated->p99, run.p99) : std::nullopt;
}

std::optional<double> evaluated_run::cpu_error() const {
  if (!simulated) return std::nullopt;
  return relative(simulated->server_cpu() + simulated->client_cpu, run.loop_cpu + run.worker_cpu + run.client_cpu);
}

std::optional<error_summary> summarise_errors(const std::vector<evaluated_run>& all,
                                              std::optional<double> (evaluated_run::*of)() const, bool undisturbed) {
  std::vector<double> errors;
  for (const evaluated_run& j : all) {
    if (undisturbed && j.run.disturbed) continue;
    if (const auto error = (j.*of)()) errors.push_back(std::abs(*error));
  }
  const auto found = summarise_samples(errors);
  if (!found) return std::nullopt;
  const auto within = std::count_if(errors.begin(), errors.end(), [](double e) { return e <= error_summary::bound; });
  return error_summary{errors.size(), static_cast<std::size_t>(within), found->median, found->max};
}

findings conclude_forecast(const question& asked, machine_costs costs, observed seen) {
  findings f{asked, std::move(costs), std::move(seen), {}, {}, {}, {}, false};
  const interruption_guard guard;
  calibrate(f.costs, f.seen);
  simulate_runs(f);
  if (!f.seen.runs.interrupted) look_ahead(f);
  f.interrupted = f.seen.runs.interrupted || interruption_guard::happened();
  return f;
}

}  // namespace quintet::bench::forecasting
