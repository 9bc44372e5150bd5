// SPDX-License-Identifier: BSL-1.0
// statistics.hpp: median and spread of a few rounds, and whether and how far two samples differ.
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

  // Returns (max - min) / median; 0 if the median is 0.
  double spread() const;
};

// Returns nullopt for no values.
std::optional<sample_summary> summarise_samples(std::span<const double> values);

// Returns true if the two ranges share a point: the rounds then do not tell which is larger.
bool overlap(const sample_summary&, const sample_summary&);

// The ratio of two samples that were measured in separate rounds.
struct ratio_interval {
  double ratio = 1;  // of the medians
  double low = 1, high = 1;
  double confidence = 0;  // that the true ratio is from low to high: 0.95, or less if there are too few rounds

  bool contains(double value) const { return low <= value && value <= high; }
};

// Computes the ratio from ranks alone (inverted Mann-Whitney test), so it assumes no distribution. Only values above 0
// count. Returns nullopt if one side has none.
std::optional<ratio_interval> ratio_of(std::span<const double> of, std::span<const double> to);

}  // namespace quintet::bench
