// SPDX-License-Identifier: BSL-1.0
// server_sim.hpp: simulates one of the five models under a closed loop of connections.
#pragma once

#include <cstdint>

#include "forecast/costs.hpp"

namespace quintet::bench::forecasting {

enum class client_place { own_cores, shared_cores, ideal };

struct scenario {
  unsigned model = 2;  // 1 to 5
  unsigned cores = 1;  // of the server; if shared, all cores
  unsigned loops = 1, workers = 4;
  unsigned connections = 100;
  double handler = 0;  // computing time, in microseconds
  client_place client = client_place::own_cores;
  unsigned client_threads = 1;
  double away = 50;  // of an ideal client: from a reply to the next request of its connection
  unsigned warm_up = 4000, requests = 20'000;
  std::uint64_t seed = 1;
};

struct sim_outcome {
  double requests_per_s = 0;
  double p50 = 0, p99 = 0;
  // CPU per request.
  double loop_cpu = 0, worker_cpu = 0, client_cpu = 0;
  double server_cpu() const { return loop_cpu + worker_cpu; }
};

// A handler above this many microseconds is expensive: model 5 hands it off to its pool (offload_options::threshold).
inline constexpr double expensive_from = 20;

sim_outcome simulate(const machine_costs&, const scenario&);

}  // namespace quintet::bench::forecasting
