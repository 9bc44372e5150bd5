// SPDX-License-Identifier: BSL-1.0
// probes.hpp: measures the costs of waking, switching, locking and accepting on this machine, each separately.
#pragma once

#include <chrono>

#include "forecast/costs.hpp"

namespace quintet::bench::forecasting {

// Measures on two different CPUs, which should be idle otherwise. Takes some ten times `each`.
void measure_probes(machine_costs& into, unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds each);

}  // namespace quintet::bench::forecasting
