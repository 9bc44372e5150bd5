// SPDX-License-Identifier: BSL-1.0
// ready_items: what a loop runs at the end of its turn, up to a limit.
#pragma once

#include "../../base/work/work_item.hpp"

#include <atomic>

namespace quintet {

/// Queue of event_loop::run_soon(). All functions but has_some(): [loop].
class ready_items {
 public:
  /// Items that queue themselves again must not keep the loop from its engine.
  static constexpr unsigned most_a_turn = 64;
  /// Nor may they keep a loop that ends from its end: it runs them so often, and then leaves them to its destructor.
  static constexpr unsigned most_at_end = 64;

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  /// [any thread] Returns whether there were items a moment ago.
  [[nodiscard]] bool has_some() const noexcept { return has_some_.load(std::memory_order_relaxed); }
  /// Returns whether a loop that ends has run all items, or has run them often enough.
  [[nodiscard]] bool are_done() const noexcept { return items_.empty() || runs_at_end_ == most_at_end; }
  void push(work_item& item) noexcept {
    items_.push(item);
    has_some_.store(true, std::memory_order_relaxed);
  }
  /// Runs the oldest items. Returns whether there were any.
  bool run() noexcept {
    unsigned ran = 0;
    for (work_item* item; ran < most_a_turn && (item = items_.pop()); ++ran) (*item)();
    has_some_.store(!items_.empty(), std::memory_order_relaxed);
    return ran > 0;
  }
  /// The same for a loop that ends, unless are_done().
  bool run_at_end() noexcept {
    if (are_done()) return false;
    ++runs_at_end_;
    return run();
  }

 private:
  work_fifo items_;
  std::atomic<bool> has_some_{false};
  unsigned runs_at_end_ = 0;
};

}  // namespace quintet
