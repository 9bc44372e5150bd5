// SPDX-License-Identifier: BSL-1.0
// ready_items: what a loop runs at the end of its turn, up to a limit.
#pragma once

#include "../../base/work/work_item.hpp"

namespace quintet {

/// Queue of event_loop::run_soon(). All functions: [loop].
class ready_items {
 public:
  /// Items that queue themselves again must not keep the loop from its engine.
  static constexpr unsigned most_a_turn = 64;

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  void push(work_item& item) noexcept { items_.push(item); }
  /// Runs the oldest items. Returns whether there were any.
  bool run() noexcept {
    unsigned ran = 0;
    for (work_item* item; ran < most_a_turn && (item = items_.pop()); ++ran) (*item)();
    return ran > 0;
  }

 private:
  work_fifo items_;
};

}  // namespace quintet
