// SPDX-License-Identifier: BSL-1.0
// statistics.cpp: median and spread of a few rounds.
#include "report/statistics.hpp"

#include <algorithm>
#include <vector>

namespace quintet::bench {

double sample_summary::spread() const { return median == 0 ? 0 : (max - min) / median; }

std::optional<sample_summary> summarise_samples(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto middle = sorted.size() / 2;
  const double median = sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return sample_summary{median, sorted.front(), sorted.back(), sorted.size()};
}

bool overlap(const sample_summary& a, const sample_summary& b) { return a.min <= b.max && b.min <= a.max; }

}  // namespace quintet::bench
