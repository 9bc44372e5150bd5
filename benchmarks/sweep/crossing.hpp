// SPDX-License-Identifier: BSL-1.0
// crossing.hpp: where on the axis one curve overtakes another, and which curve is ahead from where on.
#pragma once

#include "sweep/curve.hpp"

namespace quintet::bench {

// Two servers are apart at a value where the ranges of their rounds do not overlap, and their medians differ by more
// than a figure usually moves between rounds. Otherwise noise would have equal ones overtake each other at every value.

// Where two change places: before it one is ahead and they are apart, after it the other is.
struct crossing {
  std::string before, after;  // who is ahead below `at`, and who above
  double at;                  // interpolated
  double low, high;           // the nearest measured values at which they are apart
};
// Of figures that are better when higher. What is interpolated in a straight line is their reciprocal, the time for a
// request: it grows with a request's cost in a straight line, throughput does not.
std::vector<crossing> crossings(std::span<const curve>);

// From here on, until the next: who is ahead.
struct lead {
  double from;
  std::string label;
  std::vector<std::string> as_good;  // who is apart from it at no value of this stretch
};
std::vector<lead> leads(std::span<const curve>);

}  // namespace quintet::bench
