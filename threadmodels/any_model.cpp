// SPDX-License-Identifier: BSL-1.0
// any_model: from options to one of the five models; refuses what cannot be.
#include "any_model.hpp"

#include <string>

namespace quintet {
namespace {

void validate(const model_options& o) {
  quintet::validate(o.engine);
  spin_budget::validate(o.loop.spin);
  quintet::validate(o.threads);
  quintet::validate(o.placement);
}

}  // namespace

any_model::variant any_model::make(const model_options& o) {
  validate(o);
  switch (o.kind) {
    case model::thread_per_connection:
      return thread_per_connection(o.threads.max_threads, o.loop);
    case model::single_reactor:
      return single_reactor();
    case model::reactor_pool:
      return reactor_pool(o.threads.workers, o.threads.offload);
    case model::loop_per_thread:
      return loop_per_thread(ring_options{o.threads.loops, o.engine, o.loop, o.placement});
    case model::loop_per_thread_pool:
      return loop_per_thread_pool(ring_options{o.threads.loops, o.engine, o.loop, o.placement}, o.threads.workers,
                                  o.threads.offload);
  }
  throw config_error("model: " + std::to_string(static_cast<int>(o.kind)) + " is none of the five, 1 to 5");
}

}  // namespace quintet
