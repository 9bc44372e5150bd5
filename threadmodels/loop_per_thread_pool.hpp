// SPDX-License-Identifier: BSL-1.0
// loop_per_thread_pool: model 5: N sub-reactors do the I/O; an elastic pool runs the handlers.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

#include <utility>

namespace quintet {

class loop_per_thread_pool : public composed_model<on_loop_ring, run_pooled> {
 public:
  loop_per_thread_pool(unsigned loops, worker_limits workers, engine_kind kind = engine_kind::automatic,
                       const loop_options& each = {})
      : loop_per_thread_pool(ring_options{.loops = loops, .engine = kind, .each = each}, workers) {}
  loop_per_thread_pool(ring_options options, worker_limits workers)
      : composed_model(on_loop_ring(std::move(options)), run_pooled(workers)) {}
};

}  // namespace quintet
