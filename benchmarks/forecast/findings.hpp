// SPDX-License-Identifier: BSL-1.0
// findings.hpp: what `forecast` has to say: the costs, how well they predict runs they do not know, and the forecast.
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
  double away = 50;      // from a reply until the next request of its connection has come
};

// A run that was measured, and the same run simulated.
struct judged_run {
  observation run;
  std::optional<sim_outcome> simulated;  // empty where its model could not be calibrated

  // Of the throughput: 0.1 is a tenth too much.
  std::optional<double> error() const;
  std::optional<double> p99_error() const;
  // Of the CPU that server and client use for a request: other programs disturb it less.
  std::optional<double> cpu_error() const;
};

struct judgement {
  static constexpr double bound = 0.15;
  std::size_t runs = 0, within = 0;
  double median = 0, worst = 0;  // of the absolute errors
};
// Of those that could be simulated; empty if none could.
// `undisturbed`: only of runs beside which other programs were quiet.
std::optional<judgement> judge_errors(const std::vector<judged_run>&,
                                      std::optional<double> (judged_run::*of)() const = &judged_run::error,
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
  std::vector<judged_run> fitted, held_out;
  std::vector<forecast_row> forecast;
  std::vector<shape> shapes;
  bool interrupted = false;
};

// Everything that follows from `costs`, with what the probes have found in it, and `seen`. Ends early after Ctrl-C.
findings conclude_forecast(const question&, machine_costs costs, observed seen);

}  // namespace quintet::bench::forecasting
