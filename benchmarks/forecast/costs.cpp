// SPDX-License-Identifier: BSL-1.0
// costs.cpp: interpolates costs between measured points.
#include "forecast/costs.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::bench::forecasting {

wake_up wake_curve::at(double idle) const {
  if (points_.empty()) return {};
  const auto above = std::find_if(points_.begin(), points_.end(), [&](const point& p) { return p.idle >= idle; });
  if (above == points_.begin()) return points_.front().cost;
  if (above == points_.end()) return points_.back().cost;
  const point& low = above[-1];
  const double part = (idle - low.idle) / (above->idle - low.idle);
  return {std::lerp(low.cost.cpu, above->cost.cpu, part), std::lerp(low.cost.latency, above->cost.latency, part)};
}

double request_cost::at(double connections) const {
  if (connections <= few) return at_few;
  return std::max(at_few / 2, at_few + (at_many - at_few) * std::log(connections / few) / std::log(many / few));
}

}  // namespace quintet::bench::forecasting
