// SPDX-License-Identifier: BSL-1.0
// rebalance_options: what cannot be.
#include "rebalance_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const rebalance_options& o) {
  using detail::require;
  require(o.factor == 0 || (o.factor >= 1.05 && o.factor <= 1000), "rebalance.factor",
          "is out of range; it must be 0 (off), or from 1.05 to 1000");
  require(o.interval >= std::chrono::milliseconds(1), "rebalance.interval", "is too small; it must be at least 1 ms");
  require(o.cool_down >= duration::zero(), "rebalance.cool_down", "is negative; it must be at least 0");
}

}  // namespace quintet
