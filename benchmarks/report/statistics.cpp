// SPDX-License-Identifier: BSL-1.0
// statistics.cpp: median and spread of a few rounds, and the ratio of two samples.
#include "report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace quintet::bench {
namespace {

// n and m values of one distribution have n * m pairs. Returns the probabilities that in exactly 0, 1, 2 ... pairs the
// first exceeds the second: Gaussian binomial coefficients over their sum.
std::vector<double> chances_of_pairs(std::size_t n, std::size_t m) {
  std::vector<double> chances(n * m + 1, 0.0);
  chances[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t at = n * m; at >= m + i && at <= n * m; --at) chances[at] -= chances[at - m - i];
    for (std::size_t at = i; at <= n * m; ++at) chances[at] += chances[at - i];
    for (double& chance : chances) chance *= static_cast<double>(i) / static_cast<double>(m + i);
  }
  return chances;
}

// The number of sorted ratios to drop at each end, and the remaining confidence.
struct cut {
  std::size_t pairs = 0;
  double confidence = 0;
};

cut widest_cut(std::size_t n, std::size_t m) {
  constexpr double wanted = 0.95;
  constexpr std::size_t too_many_to_count = 10'000;
  if (n * m > too_many_to_count) {  // then the normal distribution is a good approximation
    const auto a = static_cast<double>(n), b = static_cast<double>(m);
    return {static_cast<std::size_t>(a * b / 2 - 1.96 * std::sqrt(a * b * (a + b + 1) / 12)), wanted};
  }
  const auto chances = chances_of_pairs(n, m);
  cut out{0, std::max(0.0, 1 - 2 * chances[0])};
  double below = chances[0];
  while (1 - 2 * (below + chances[out.pairs + 1]) >= wanted) {
    ++out.pairs;
    below += chances[out.pairs];
    out.confidence = 1 - 2 * below;
  }
  return out;
}

std::vector<double> above_zero(std::span<const double> values) {
  std::vector<double> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), [](double value) { return value > 0; });
  return out;
}

}  // namespace

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

std::optional<ratio_interval> ratio_of(std::span<const double> of, std::span<const double> to) {
  const auto above = above_zero(of), below = above_zero(to);
  if (above.empty() || below.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (const double a : above) {
    for (const double b : below) ratios.push_back(a / b);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto ends = widest_cut(above.size(), below.size());
  const double ratio = summarise_samples(above)->median / summarise_samples(below)->median;
  return ratio_interval{ratio, std::min(ratio, ratios[ends.pairs]),
                        std::max(ratio, ratios[ratios.size() - 1 - ends.pairs]), ends.confidence};
}

}  // namespace quintet::bench
