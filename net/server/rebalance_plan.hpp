// SPDX-License-Identifier: BSL-1.0
// rebalance_plan: which loop gives how much of its load to which other one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quintet::detail {

struct transfer {
  std::size_t from, to;  // loops
  double share;          // of what `from` has
};

/// What makes all loads equal; nothing where the largest is at most `factor` times the smallest, or they differ by less
/// than `least`. Each loop gives or takes, and no more transfers than loops are needed.
[[nodiscard]] std::vector<transfer> plan_transfers(std::span<const double> loads, double factor, double least);

}  // namespace quintet::detail
