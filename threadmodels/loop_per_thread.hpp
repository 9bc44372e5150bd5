// SPDX-License-Identifier: BSL-1.0
// loop_per_thread: model 4: the main reactor accepts; N sub-reactors own the connections and run their handlers.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

#include <vector>

namespace quintet {

class loop_per_thread : public composed_model<on_loop_ring, run_inline> {
 public:
  explicit loop_per_thread(unsigned loops, engine_kind kind = engine_kind::automatic, const loop_options& options = {},
                           const std::vector<int>& cpus = {})
      : composed_model(on_loop_ring(loops, kind, options, cpus)) {}
};

}  // namespace quintet
