// SPDX-License-Identifier: BSL-1.0
// forecast_report.hpp: costs, errors, forecast and shapes as text for a terminal and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "forecast/findings.hpp"
#include "report/result.hpp"

namespace quintet::bench::forecasting {

std::string forecast_table(const findings&);
// Composes the keys of every command, "costs", "fitted", "held_out", "errors", "forecast" and "shapes".
boost::json::object compose_forecast(const findings&);

// One number of the simulation.
struct cost_line {
  std::string name;
  unsigned model = 0;  // the model it belongs to; 0: the machine
  measurement value;
  std::string unit, source;  // "measured here", "fitted to runs measured here", "assumed"
};
std::vector<cost_line> cost_lines(const findings&);

}  // namespace quintet::bench::forecasting
