// SPDX-License-Identifier: BSL-1.0
// rebalance_options: what cannot be.
#include "rebalance_options.hpp"

#include "../../base/error.hpp"

#include <string>

namespace quintet {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw config_error(std::string("rebalance.") + what);
}

}  // namespace

void validate(const rebalance_options& o) {
  require(o.factor == 0 || (o.factor >= 1.05 && o.factor <= 1000), "factor: it must be 0 (off), or from 1.05 to 1000");
  require(o.interval >= std::chrono::milliseconds(1), "interval: it must be at least 1 ms");
  require(o.cool_down >= duration::zero(), "cool_down: it must not be below zero");
}

}  // namespace quintet
