// SPDX-License-Identifier: BSL-1.0
// loop_per_thread: model 4: the main reactor accepts; N sub-reactors own the connections and run their handlers.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

#include <utility>

namespace quintet {

class loop_per_thread : public composed_model<on_loop_ring, run_inline> {
 public:
  explicit loop_per_thread(unsigned loops, engine_kind kind = engine_kind::automatic, const loop_options& each = {})
      : loop_per_thread(ring_options{.loops = loops, .engine = kind, .each = each}) {}
  explicit loop_per_thread(ring_options options) : composed_model(on_loop_ring(std::move(options))) {}
};

}  // namespace quintet
