// SPDX-License-Identifier: BSL-1.0
// chart.hpp: draws the curves of a sweep as an SVG element in the colours of the report.
#pragma once

#include <string>

#include "sweep/axis.hpp"
#include "sweep/crossing.hpp"

namespace quintet::bench {

// Draws a line with whiskers for each curve, and a vertical line where the lead changes. Values have equal distances.
// Throughput is logarithmic if it spans more than a factor of 50.
std::string svg_chart(const axis&, std::span<const curve>, std::span<const lead>);

// Returns "var(--m2)": the report's colour of this model in every plot.
std::string colour_of(std::string_view label);

}  // namespace quintet::bench
