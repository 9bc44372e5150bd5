// SPDX-License-Identifier: BSL-1.0
// calibration.hpp: fits costs so that the simulation uses as much CPU as the measured runs.
#pragma once

#include "forecast/costs.hpp"
#include "forecast/observations.hpp"
#include "forecast/server_sim.hpp"

namespace quintet::bench::forecasting {

// Completes the costs of measure_probes() for every model that has its fitted runs (model_costs::known). Ignores all
// other runs.
void calibrate(machine_costs&, const observed&);

// Returns the simulation's settings for a run.
scenario scenario_of(const observation&, const observed&);

}  // namespace quintet::bench::forecasting
