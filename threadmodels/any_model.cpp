// SPDX-License-Identifier: BSL-1.0
// any_model: makes one of the five models from options, and refuses invalid options.
#include "any_model.hpp"

#include "../net/loop/thread_model.hpp"
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

/// Reads the counters of the model's pool, if it has one.
template <thread_model Model>
class chosen_adapter final : public model_adapter<Model, chosen_model> {
 public:
  using model_adapter<Model, chosen_model>::model_adapter;

  [[nodiscard]] offload_statistics offloads() const override {
    if constexpr (requires(const Model& m) { m.offloads(); })
      return this->get().offloads();
    else
      return {};
  }
  [[nodiscard]] worker_statistics workers() const override {
    if constexpr (requires(const Model& m) { m.workers(); })
      return this->get().workers();
    else
      return {};
  }
};

template <thread_model Model>
std::unique_ptr<chosen_model> adapted(Model m) {
  return std::make_unique<chosen_adapter<Model>>(std::move(m));
}

std::unique_ptr<chosen_model> make(const model_options& o) {
  validate(o);
  const auto ring = [&o] { return ring_options{o.threads.loops, o.engine, o.loop, o.placement}; };
  switch (o.kind) {
    case model::thread_per_connection:
      return adapted(thread_per_connection(o.threads.max_threads, o.loop));
    case model::single_reactor:
      return adapted(single_reactor());
    case model::reactor_pool:
      return adapted(reactor_pool(o.threads.workers, o.threads.offload));
    case model::loop_per_thread:
      return adapted(loop_per_thread(ring()));
    case model::loop_per_thread_pool:
      return adapted(loop_per_thread_pool(ring(), o.threads.workers, o.threads.offload, o.threads.pool_per_loop));
  }
  throw config_error("model is " + std::to_string(static_cast<int>(o.kind)) + "; it must be 1 to 5");
}

}  // namespace

any_model::any_model(const model_options& o) : model_(make(o)) {}

static_assert(thread_model<any_model>);

}  // namespace quintet
