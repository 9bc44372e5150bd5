// SPDX-License-Identifier: BSL-1.0
// cost_limit: the threshold between cheap and expensive work.
#pragma once

#include "../clock.hpp"
#include "work_item.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace quintet {

/// Classifies cost. Work of unknown cost is not cheap.
class cost_limit {
 public:
  explicit cost_limit(duration threshold) noexcept
      : most_(std::max<std::int64_t>(0, std::chrono::floor<std::chrono::microseconds>(threshold).count())) {}
  [[nodiscard]] bool is_cheap(work_cost c) const noexcept { return c.is_known() && c.microseconds() <= most_; }

 private:
  std::int64_t most_;  // microseconds; costs are rounded up to whole microseconds
};

}  // namespace quintet
