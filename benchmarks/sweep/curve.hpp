// SPDX-License-Identifier: BSL-1.0
// curve.hpp: a figure of one server over the values of an axis.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/summary.hpp"

namespace quintet::bench {

struct curve_point {
  double value;               // on the axis
  sample_summary figure;      // of the rounds
  bool client_bound = false;  // the client was the bottleneck, so the server may be faster
};

struct curve {
  std::string label;                // of the server
  std::vector<curve_point> points;  // measured points, in the order of their values

  const curve_point* at(double value) const;  // nullptr if the value was not measured
  const curve_point& peak() const;            // the highest median; requires a point
  // Returns the first value at which the median is at least this fraction of the peak.
  double reached(double part) const;
};

// Returns a curve for each server that gave figures, in the order of the summary.
std::vector<curve> curves_of(std::span<const combination>, measurement run_result::* axis,
                             measurement run_result::* figure);

}  // namespace quintet::bench
