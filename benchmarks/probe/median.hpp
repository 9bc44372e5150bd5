// SPDX-License-Identifier: BSL-1.0
// median.hpp: the median of samples, because other programs run too.
#pragma once

#include <algorithm>
#include <vector>

namespace quintet::bench {

/// Returns 0 for no samples.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace quintet::bench
