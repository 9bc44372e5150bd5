// SPDX-License-Identifier: BSL-1.0
// reactor_pool: model 3: one reactor does all I/O; a fixed pool runs the handlers, one batch of a connection at a time.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

namespace quintet {

class reactor_pool : public composed_model<on_main_loop, run_pooled> {
 public:
  explicit reactor_pool(unsigned workers) : composed_model({}, run_pooled({workers, workers})) {}
};

}  // namespace quintet
