// SPDX-License-Identifier: BSL-1.0
// shapes.hpp: three published curves over cores, and simulations of the same structures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forecast/costs.hpp"

namespace quintet::bench::forecasting {

// Published figures are of other machines, years and kernels, so only the shape is comparable.
struct shape_row {
  unsigned threads = 1, cores = 1;
  double shared = 0, separate = 0;  // per second; shared: 0 if there is no shared variant
  std::optional<double> published_shared, published_separate;
};

struct shape {
  std::string name, title, shared, separate;  // what the two variants are
  std::string conclusion, published;          // a sentence each
  std::vector<shape_row> rows;
};

// Connections that are accepted and served once; `short_cpu` is the server's CPU for one of them. Compares a queue that
// all cores lock with a queue per core.
shape accept_shape(const machine_costs&, double short_cpu);
// Compares threads that share one io_context with threads that have one each.
shape io_context_shape(const machine_costs&, unsigned connections);
// Loops that share nothing.
shape shard_shape(const machine_costs&, unsigned connections);

// Returns connections per second with one queue behind a spin lock; without a shared queue if `locked` is 0.
double simulate_accepting(const machine_costs&, unsigned cores, double locked, double apart);
// Returns requests per second with one io_context.
double simulate_shared_context(const machine_costs&, unsigned threads, unsigned cores, unsigned connections);

}  // namespace quintet::bench::forecasting
