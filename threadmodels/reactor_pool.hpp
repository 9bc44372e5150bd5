// SPDX-License-Identifier: BSL-1.0
// reactor_pool: model 3: one reactor does all I/O; a fixed pool runs the handlers, one batch of a connection at a time.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

namespace quintet {

class reactor_pool : public composed_model<on_main_loop, run_pooled> {
 public:
  explicit reactor_pool(unsigned workers) : reactor_pool(worker_limits{.max = workers}) {}
  /// `max` threads from the beginning.
  explicit reactor_pool(worker_limits workers) : composed_model({}, run_pooled(fixed(workers))) {}

 private:
  static worker_limits fixed(worker_limits w) noexcept {
    w.min = w.max;
    return w;
  }
};

}  // namespace quintet
