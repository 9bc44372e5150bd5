// SPDX-License-Identifier: BSL-1.0
// any_model: from options to one of the five models; refuses what cannot be.
#include "any_model.hpp"

#include <string>

namespace quintet {
namespace {

void require(bool good, const std::string& message) {
  if (!good) throw config_error(message);
}

void validate(const model_options& o) {
  quintet::validate(o.engine);
  spin_budget::validate(o.spin);
  require(o.loops >= 1, "loops: 0 is not allowed, it must be at least 1");
  validate(o.workers);
  validate(o.offload);
  require(o.max_threads >= 1, "max_threads: 0 is not allowed, it must be at least 1");
}

ring_options ring_of(const model_options& o) {
  ring_options ring{.loops = o.loops,
                    .engine = o.engine,
                    .each = loop_options_of(o),
                    .cpus = o.cpus,
                    .placement = o.placement,
                    .place_by = o.place_by};
  ring.each.own_descriptors = o.own_descriptors;
  return ring;
}

}  // namespace

any_model::variant any_model::make(const model_options& o) {
  validate(o);
  switch (o.kind) {
    case model::thread_per_connection:
      return thread_per_connection(o.max_threads, loop_options_of(o));
    case model::single_reactor:
      return single_reactor();
    case model::reactor_pool:
      return reactor_pool(o.workers, o.offload);
    case model::loop_per_thread:
      return loop_per_thread(ring_of(o));
    case model::loop_per_thread_pool:
      return loop_per_thread_pool(ring_of(o), o.workers, o.offload);
  }
  throw config_error("model: " + std::to_string(static_cast<int>(o.kind)) + " is none of the five, 1 to 5");
}

}  // namespace quintet
