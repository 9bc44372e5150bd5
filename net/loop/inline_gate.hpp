// SPDX-License-Identifier: BSL-1.0
// inline_gate: tells a connection that its thread model would run a batch at once, on the loop that has received it.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/metrics/counter.hpp"
#include "../../base/work/cost_limit.hpp"
#include "../../base/work/work_item.hpp"

namespace quintet {

/// One of a model and a loop. The batches that it admits take the connection's fast path. All functions: [loop].
class inline_gate {
 public:
  /// Returns whether the model would run it at once. `cost`: the cost of the connection's recent batches. Then the
  /// caller runs it, measures it, and calls account(). If not, the caller asks the model, which counts why.
  [[nodiscard]] bool admits(work_cost cost) noexcept {
    if (!limit_.is_cheap(cost) || holds_back_) [[unlikely]]
      return false;
    usual_.blend(cost);
    admitted_.add();
    return true;
  }
  /// Accounts for a batch that the loop ran itself. Returns whether it took longer than it may.
  bool account(duration took) noexcept {
    if (took <= threshold_) [[likely]]
      return false;
    overrun(took);
    return true;
  }

 protected:
  /// Batches that cost more than `threshold` are expensive. `admitted` counts those that are not.
  inline_gate(duration threshold, counter& admitted) noexcept
      : admitted_(admitted), limit_(threshold), threshold_(threshold) {}
  ~inline_gate() = default;
  virtual void overrun(duration took) noexcept = 0;

  counter& admitted_;
  const cost_limit limit_;
  const duration threshold_;
  work_cost usual_;          // of all connections
  bool holds_back_ = false;  // since an overrun: only the model decides
};

}  // namespace quintet
