// SPDX-License-Identifier: BSL-1.0
// statistics.hpp: median and spread of a few rounds, and whether two of them can be told apart.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace quintet::bench {

struct sample_summary {
  double median = 0;
  double min = 0;
  double max = 0;
  std::size_t samples = 0;

  // (max - min) / median; 0 when the median is 0.
  double spread() const;
};

// Empty for no values.
std::optional<sample_summary> summarise_samples(std::span<const double> values);

// True when the two ranges share a point: then the rounds do not tell which of the two is bigger.
bool overlap(const sample_summary&, const sample_summary&);

}  // namespace quintet::bench
