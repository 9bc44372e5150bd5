// SPDX-License-Identifier: BSL-1.0
// any_model: the threading model chosen at run time; itself a thread_model.
#pragma once

#include "../net/loop/thread_model.hpp"
#include "../net/options/loop_options.hpp"
#include "compute/model_statistics.hpp"
#include "compute/thread_options.hpp"
#include "model.hpp"
#include "placement/placement_options.hpp"

#include <memory>

namespace quintet {

/// The options of any_model.
struct model_options {
  model kind = model::loop_per_thread;          ///< which of the five
  thread_options threads = {.loops = 1};        ///< how many loops and workers it has
  engine_kind engine = engine_kind::automatic;  ///< the I/O engine
  loop_tuning loop = {};                        ///< of the model's own loops
  placement_options placement = {};             ///< models 4 and 5
};

/// The interface of one of the five models. A server's model() returns it.
class chosen_model : public model_interface {
 public:
  /// [any thread] Returns the offloading counters; all 0 if the model has no pool.
  [[nodiscard]] virtual offload_statistics offloads() const { return {}; }
  /// [any thread]
  [[nodiscard]] virtual worker_statistics workers() const { return {}; }
};

/// One of the five models, chosen at run time.
class any_model {
 public:
  /// For servers: the type that model() returns.
  using interface_type = chosen_model;

  /// Throws config_error.
  explicit any_model(const model_options& o);

  void start(event_loop& main) { model_->start(main); }
  event_loop& place() { return model_->place(); }
  void run(work_item& item) noexcept { model_->run(item); }
  void stop() noexcept { model_->stop(); }

  /// Releases the held model: a server calls it directly. The caller must not use this object any more.
  [[nodiscard]] std::unique_ptr<model_interface> release() && noexcept { return std::move(model_); }

 private:
  std::unique_ptr<chosen_model> model_;
};

}  // namespace quintet
