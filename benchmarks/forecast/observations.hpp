// SPDX-License-Identifier: BSL-1.0
// observations.hpp: runs for fitting the costs, and held-out runs for testing the simulation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "forecast/quiet.hpp"

namespace quintet::bench::forecasting {

// Medians of the rounds.
struct observation {
  unsigned model = 0;  // 1 to 5
  std::string workload;
  double handler = 0;  // microseconds
  unsigned connections = 0;
  // false: the server has one CPU and the client the others. true: both have all, with a loop and a worker per CPU.
  bool shared = false;
  double requests_per_s = 0, spread = 0;
  double p99 = 0;
  double loop_cpu = 0, worker_cpu = 0, client_cpu = 0;  // per request
  bool fitted = false;                                  // false: held out
  // Other programs used much CPU in every round. Otherwise only the undisturbed rounds count.
  bool disturbed = false;
};

struct observed {
  comparison_outcome runs;
  std::vector<observation> all;
  std::optional<double> short_cpu;  // the server's CPU for a short connection, microseconds
  unsigned cpus = 2, client_cpus = 1;

  const observation* find(unsigned model, const std::string& workload, unsigned connections) const;  // not shared
};

inline constexpr const char* fitted_handler = "cpu:50us";

// Performs all runs. `settings` gives the rounds, duration and warm-up of each.
observed observe(compare_settings settings, quiet_moments&);

}  // namespace quintet::bench::forecasting
