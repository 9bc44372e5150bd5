// SPDX-License-Identifier: BSL-1.0
// rebalance_plan: plans transfers from loops above the mean load to loops below it.
#include "rebalance_plan.hpp"

#include <algorithm>
#include <numeric>

namespace quintet::detail {

std::vector<transfer> plan_transfers(std::span<const double> loads, double factor, double least) {
  std::vector<transfer> plan;
  if (loads.size() < 2) return plan;
  const auto [lowest, highest] = std::ranges::minmax(loads);
  if (highest <= factor * lowest || highest - lowest < least) return plan;
  const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
  std::vector<double> wanted(loads.size());
  std::ranges::transform(loads, wanted.begin(), [mean](double load) { return mean - load; });
  std::size_t to = 0;
  for (std::size_t from = 0; from < loads.size(); ++from) {
    double surplus = -wanted[from];
    while (surplus > 0) {
      while (to < loads.size() && wanted[to] <= 0) ++to;
      if (to == loads.size()) break;  // the rest is a rounding error
      const double amount = std::min(surplus, wanted[to]);
      plan.push_back({from, to, amount / loads[from]});
      surplus -= amount;
      wanted[to] -= amount;
    }
  }
  return plan;
}

}  // namespace quintet::detail
