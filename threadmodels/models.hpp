// SPDX-License-Identifier: BSL-1.0
// models: the five threading models, each a placement and a compute.
#pragma once

#include "composed_model.hpp"

#include <utility>

namespace quintet {

/// Model 1: a thread for each connection, which blocks in recv and send, and runs the handler.
class thread_per_connection : public composed_model<on_own_loop, run_inline> {
 public:
  /// `max_threads`: threads, so open connections.
  explicit thread_per_connection(std::size_t max_threads = 4096, const loop_tuning& tuning = {})
      : composed_model(on_own_loop(max_threads, tuning)) {}
};

/// Model 2: one thread accepts, does all I/O and runs each handler.
class single_reactor : public composed_model<on_main_loop, run_inline> {
 public:
  /// `helpers`: threads for the functions of offload().
  explicit single_reactor(unsigned helpers = 0) : composed_model({}, run_inline(helpers)) {}
};

/// Model 3: one reactor does all I/O. A fixed pool runs the handlers, one batch of a connection at a time.
class reactor_pool : public composed_model<on_main_loop, run_adaptive<run_pooled>> {
 public:
  /// Starts so many threads at once.
  explicit reactor_pool(unsigned workers) : reactor_pool(worker_limits{.max = workers}) {}
  /// Starts `max` threads at once. The pool gets every batch, unless `offload` says adaptive.
  explicit reactor_pool(worker_limits workers, offload_options offload = {})
      : composed_model({}, run_adaptive(run_pooled(fixed(workers), offload.threshold), chosen(offload))) {}

 private:
  static offload_options chosen(offload_options o) noexcept {
    if (o.policy == offload_policy::automatic) o.policy = offload_policy::always;
    return o;
  }
  static worker_limits fixed(worker_limits w) noexcept {
    w.min = w.max;
    return w;
  }
};

/// Model 4: the main reactor accepts. N sub-reactors own the connections and run their handlers.
class loop_per_thread : public composed_model<on_loop_group, run_inline> {
 public:
  /// Starts so many loops, with a thread each.
  explicit loop_per_thread(unsigned loops, engine_kind kind = engine_kind::automatic, const loop_tuning& each = {})
      : loop_per_thread(loop_group_options{.loops = loops, .engine = kind, .each = each}) {}
  explicit loop_per_thread(loop_group_options options, unsigned helpers = 0)
      : composed_model(on_loop_group(std::move(options)), run_inline(helpers)) {}
};

/// Model 5: N sub-reactors do the I/O. An elastic pool runs the handlers, except batches that the loop predicts to be
/// cheap.
class loop_per_thread_pool : public composed_model<on_loop_group, run_adaptive<run_pooled>> {
 public:
  /// Starts so many loops, with a thread each. `workers` bounds the pool.
  loop_per_thread_pool(unsigned loops, worker_limits workers, engine_kind kind = engine_kind::automatic,
                       const loop_tuning& each = {})
      : loop_per_thread_pool(loop_group_options{.loops = loops, .engine = kind, .each = each}, workers) {}
  loop_per_thread_pool(loop_group_options options, worker_limits workers, const offload_options& offload = {})
      : composed_model(on_loop_group(std::move(options)),
                       run_adaptive(run_pooled(workers, offload.threshold), offload)) {}
};

}  // namespace quintet
