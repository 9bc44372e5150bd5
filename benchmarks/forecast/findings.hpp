// SPDX-License-Identifier: BSL-1.0
// findings.hpp: results of `forecast`: the costs, how well they predict held-out runs, and the forecast.
#pragma once

#include <optional>
#include <vector>

#include "forecast/costs.hpp"
#include "forecast/observations.hpp"
#include "forecast/server_sim.hpp"
#include "forecast/shapes.hpp"

namespace quintet::bench::forecasting {

struct question {
  std::vector<unsigned> cores{1, 2, 4, 8, 16, 24, 32};
  unsigned connections = 1000;
  double handler = 200;  // microseconds, beside the echo
  double away = 50;      // from a reply to the arrival of its connection's next request
};

// A measured run, and its simulation.
struct evaluated_run {
  observation run;
  std::optional<sim_outcome> simulated;  // empty if its model could not be calibrated

  // Relative error of the throughput: 0.1 is a tenth too much.
  std::optional<double> error() const;
  std::optional<double> p99_error() const;
  // Error of the CPU per request of server and client. Other programs disturb it less.
  std::optional<double> cpu_error() const;
};

struct error_summary {
  static constexpr double bound = 0.15;
  std::size_t runs = 0, within = 0;
  double median = 0, worst = 0;  // of the absolute errors
};
// Summarizes the simulated runs; empty if there are none. `undisturbed` limits it to runs during which other programs
// were idle.
std::optional<error_summary> summarise_errors(const std::vector<evaluated_run>&,
                                              std::optional<double> (evaluated_run::*of)()
                                                  const = &evaluated_run::error,
                                              bool undisturbed = false);

struct forecast_row {
  unsigned model = 1, cores = 1;
  double handler = 0;
  sim_outcome outcome;
};

struct findings {
  question asked;
  machine_costs costs;
  observed seen;
  std::vector<evaluated_run> fitted, held_out;
  std::vector<forecast_row> forecast;
  std::vector<shape> shapes;
  bool interrupted = false;
};

// Computes all findings from `costs`, which measure_probes() has filled in, and `seen`. Ends early after Ctrl-C.
findings conclude_forecast(const question&, machine_costs costs, observed seen);

}  // namespace quintet::bench::forecasting
