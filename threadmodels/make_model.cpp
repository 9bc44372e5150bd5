// SPDX-License-Identifier: BSL-1.0
// make_model: makes one of the five models from options, and refuses invalid options.
#include "../net/loop/thread_model.hpp"
#include "config.hpp"
#include "models.hpp"

#include <string>
#include <utility>

namespace quintet {
namespace {

void validate(const model_options& o) {
  quintet::validate(o.engine);
  spin_budget::validate(o.loop.spin);
  quintet::validate(o.threads);
  quintet::validate(o.placement);
}

template <thread_model Model>
std::unique_ptr<model_interface> adapted(Model m, const thread_options& o) {
  m.use_handshake_threads(o.handshakes);
  return std::make_unique<model_adapter<Model>>(std::move(m));
}

}  // namespace

std::unique_ptr<model_interface> make_model(const model_options& o) {
  validate(o);
  const auto group = [&o] { return loop_group_options{o.threads.loops, o.engine, o.loop, o.placement}; };
  switch (o.kind) {
    case model::thread_per_connection:
      return adapted(thread_per_connection(o.threads.max_threads, o.loop), o.threads);
    case model::single_reactor:
      return adapted(single_reactor(o.threads.helpers), o.threads);
    case model::reactor_pool:
      return adapted(reactor_pool(o.threads.workers, o.threads.offload), o.threads);
    case model::loop_per_thread:
      return adapted(loop_per_thread(group(), o.threads.helpers), o.threads);
    case model::loop_per_thread_pool:
      return adapted(loop_per_thread_pool(group(), o.threads.workers, o.threads.offload), o.threads);
  }
  throw config_error("model is " + std::to_string(static_cast<int>(o.kind)) + "; it must be 1 to 5");
}

}  // namespace quintet
