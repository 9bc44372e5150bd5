// SPDX-License-Identifier: BSL-1.0
// chart.hpp: the curves of a sweep as a drawing, an SVG element in the colours of the report.
#pragma once

#include <string>

#include "sweep/axis.hpp"
#include "sweep/crossing.hpp"

namespace quintet::bench {

// A line with whiskers for each curve, a vertical line where the lead changes. The values stand at equal distances,
// whatever lies between them; throughput is on a logarithmic scale where it spans more than a factor of 50.
std::string svg_chart(const axis&, std::span<const curve>, std::span<const lead>);

// "var(--m2)": as the report has it for this model in every plot.
std::string colour_of(std::string_view label);

}  // namespace quintet::bench
