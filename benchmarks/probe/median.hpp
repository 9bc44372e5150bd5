// SPDX-License-Identifier: BSL-1.0
// median.hpp: the median of samples, because other programs run too.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace quintet::bench {

/// Returns 0 for no samples.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// Returns the median of what `sample` returns, over as many calls as begin within `time`, and at least one.
template <class Sample>
double median_within(std::chrono::nanoseconds time, Sample sample) {
  std::vector<double> samples;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    samples.push_back(sample());
  } while (std::chrono::steady_clock::now() < end);
  return median(std::move(samples));
}

}  // namespace quintet::bench
