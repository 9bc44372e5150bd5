// SPDX-License-Identifier: BSL-1.0
// made_up_costs.hpp: costs of no machine, for tests of what follows from costs.
#pragma once

#include "forecast/costs.hpp"

namespace quintet::bench::forecasting {

inline machine_costs made_up_costs() {
  machine_costs costs;
  for (model_costs& of : costs.models) {
    of.loop = {5, 5};
    of.client = {2, 2};
    of.worker = 1;
    of.handoff = 20;
    of.expensive_loop = 8;
    of.expensive_worker = 6;
    of.known = true;
  }
  costs.wake.add({0, {2, 10}});
  costs.wake.add({100, {6, 30}});
  costs.turn = 0.5;
  costs.switch_cost = 1;
  costs.lock = 0.05;
  costs.line = 0.15;
  costs.accept = 3;
  return costs;
}

}  // namespace quintet::bench::forecasting
