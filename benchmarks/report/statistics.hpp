// SPDX-License-Identifier: BSL-1.0
// statistics.hpp: median and spread of a few rounds, whether two of them can be told apart, and how far apart they are.
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

// How many times the first's figures are the second's, where the two were measured in rounds of their own.
struct ratio_interval {
  double ratio = 1;  // of the medians
  double low = 1, high = 1;
  double confidence = 0;  // that the true ratio is from low to high: 0.95 where so few rounds can give that, else less

  bool contains(double value) const { return low <= value && value <= high; }
};

// From the ranks of the figures alone (Mann and Whitney's test, turned round), so it assumes nothing about how they are
// spread. Only figures above 0 count; empty where one side has none.
std::optional<ratio_interval> ratio_of(std::span<const double> of, std::span<const double> to);

}  // namespace quintet::bench
