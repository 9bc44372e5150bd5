// SPDX-License-Identifier: BSL-1.0
// rebalance_plan: the transfers of load between loops that make all loads equal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quintet::detail {

struct transfer {
  std::size_t from, to;  // indices of loops
  double share;          // fraction of the load of `from`
};

/// Returns the transfers that make all loads equal. Returns none if the largest load is at most `factor` times the
/// smallest, or if they differ by less than `least`. A loop never both gives and takes. There are no more transfers
/// than loops.
[[nodiscard]] std::vector<transfer> plan_transfers(std::span<const double> loads, double factor, double least);

}  // namespace quintet::detail
