// SPDX-License-Identifier: BSL-1.0
// crossing.hpp: finds where on the axis one curve overtakes another, and which curve leads from where on.
#pragma once

#include "sweep/curve.hpp"

namespace quintet::bench {

// Two servers are apart at a value if the ranges of their rounds do not overlap. Their medians must also differ by more
// than the usual movement between rounds. Otherwise noise would let equal servers overtake each other at every value.

// A change of places: before it one server is ahead and they are apart, after it the other is.
struct crossing {
  std::string before, after;  // the servers ahead below and above `at`
  double at;                  // interpolated
  double low, high;           // the nearest measured values at which they are apart
};
// Finds the crossings of figures that are better when higher. It interpolates their reciprocal, the time per request,
// because that grows linearly with a request's cost.
std::vector<crossing> crossings(std::span<const curve>);

// The leader from here on, until the next one.
struct lead {
  double from;
  std::string label;
  std::vector<std::string> as_good;  // servers that are apart from it at no value of this stretch
};
std::vector<lead> leads(std::span<const curve>);

}  // namespace quintet::bench
