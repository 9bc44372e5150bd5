// SPDX-License-Identifier: BSL-1.0
// shapes.hpp: three published curves over cores, and what the simulation makes of the same structures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forecast/costs.hpp"

namespace quintet::bench::forecasting {

// Published figures are of other machines, years, and kernels: what can be compared is the shape.
struct shape_row {
  unsigned threads = 1, cores = 1;
  double shared = 0, separate = 0;  // a second; shared: 0 where there is no such thing
  std::optional<double> published_shared, published_separate;
};

struct shape {
  std::string name, title, shared, separate;  // what the two are
  std::string conclusion, published;          // a sentence each
  std::vector<shape_row> rows;
};

// Connections accepted and served once; `short_cpu`: of the server for one of them. A queue that all cores lock, and a
// queue for each.
shape accept_shape(const machine_costs&, double short_cpu);
// Threads that run one io_context, and an io_context for each.
shape io_context_shape(const machine_costs&, unsigned connections);
// Loops that share nothing.
shape shard_shape(const machine_costs&, unsigned connections);

// So many connections a second with one queue behind a spin lock; without one if `locked` is 0.
double simulate_accepting(const machine_costs&, unsigned cores, double locked, double apart);
// So many requests a second with one io_context.
double simulate_shared_context(const machine_costs&, unsigned threads, unsigned cores, unsigned connections);

}  // namespace quintet::bench::forecasting
