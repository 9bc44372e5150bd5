// SPDX-License-Identifier: BSL-1.0
// probes.hpp: what waking, switching, locking and accepting cost on this machine, each by itself.
#pragma once

#include <chrono>

#include "forecast/costs.hpp"

namespace quintet::bench::forecasting {

// Two different CPUs that nobody else uses meanwhile. Takes some ten times `each`.
void measure_probes(machine_costs& into, unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds each);

}  // namespace quintet::bench::forecasting
