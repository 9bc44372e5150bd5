// SPDX-License-Identifier: BSL-1.0
// loop_per_thread_pool: model 5: N sub-reactors do the I/O; an elastic pool runs the handlers.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

#include <vector>

namespace quintet {

class loop_per_thread_pool : public composed_model<on_loop_ring, run_pooled> {
 public:
  loop_per_thread_pool(unsigned loops, worker_limits workers, engine_kind kind = engine_kind::automatic,
                       const loop_options& options = {}, const std::vector<int>& cpus = {})
      : composed_model(on_loop_ring(loops, kind, options, cpus), run_pooled(workers)) {}
};

}  // namespace quintet
