// SPDX-License-Identifier: BSL-1.0
// observations.hpp: the runs that the costs are fitted to, and those that the simulation is judged by.
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
  // The server has a CPU alone and the client the others; or both have all, and the server as many loops and workers.
  bool shared = false;
  double requests_per_s = 0, spread = 0;
  double p99 = 0;
  double loop_cpu = 0, worker_cpu = 0, client_cpu = 0;  // for a request
  bool fitted = false;                                  // else held out
  // Other programs had much of the CPUs in every round. Where there are rounds without them, those alone count.
  bool disturbed = false;
};

struct observed {
  comparison_outcome runs;
  std::vector<observation> all;
  std::optional<double> short_cpu;  // of the server for a short connection, microseconds
  unsigned cpus = 2, client_cpus = 1;

  const observation* find(unsigned model, const std::string& workload, unsigned connections) const;  // not shared
};

inline constexpr const char* fitted_handler = "cpu:50us";

// Runs everything that `settings` leaves open: its rounds, duration and warm-up hold for each.
observed observe(compare_settings settings, quiet_moments&);

}  // namespace quintet::bench::forecasting
