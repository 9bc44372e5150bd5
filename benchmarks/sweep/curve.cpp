// SPDX-License-Identifier: BSL-1.0
// curve.cpp: a figure of one server over the values of an axis.
#include "sweep/curve.hpp"

#include <algorithm>

namespace quintet::bench {

const curve_point* curve::at(double value) const {
  const auto found = std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.value == value; });
  return found == points.end() ? nullptr : &*found;
}

const curve_point& curve::peak() const {
  return *std::max_element(points.begin(), points.end(),
                           [](const auto& a, const auto& b) { return a.figure.median < b.figure.median; });
}

double curve::reached(double part) const {
  const double enough = part * peak().figure.median;
  return std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.figure.median >= enough; })->value;
}

std::vector<curve> curves_of(std::span<const combination> summary, measurement run_result::* axis,
                             measurement run_result::* figure) {
  std::vector<curve> out;
  for (const auto& row : summary) {
    const auto& value = row.first.*axis;
    const auto& measured = row[figure];
    if (!value || !measured) continue;
    const auto label = row.label();
    auto found = std::find_if(out.begin(), out.end(), [&](const curve& c) { return c.label == label; });
    if (found == out.end()) found = out.insert(out.end(), curve{label, {}});
    found->points.push_back({*value, *measured, row.client_bound()});
  }
  for (curve& c : out)
    std::sort(c.points.begin(), c.points.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return out;
}

}  // namespace quintet::bench
