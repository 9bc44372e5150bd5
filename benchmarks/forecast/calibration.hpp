// SPDX-License-Identifier: BSL-1.0
// calibration.hpp: costs with which the simulation uses as much CPU as the fitted runs did.
#pragma once

#include "forecast/costs.hpp"
#include "forecast/observations.hpp"
#include "forecast/server_sim.hpp"

namespace quintet::bench::forecasting {

// Completes what measure_probes() has found, for every model whose fitted runs are there (model_costs::known). Looks at
// no other run.
void calibrate(machine_costs&, const observed&);

// The simulation of a run.
scenario scenario_of(const observation&, const observed&);

}  // namespace quintet::bench::forecasting
