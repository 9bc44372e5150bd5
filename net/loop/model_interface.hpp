// SPDX-License-Identifier: BSL-1.0
// model_interface: a thread model behind virtual functions, for code that does not depend on the model's type.
#pragma once

#include "../../base/work/work_item.hpp"
#include "event_loop.hpp"

#include <functional>
#include <vector>

namespace quintet {

/// The verbs of `thread_model`, which documents each of them. Optional verbs have a default here.
class model_interface {
 public:
  model_interface() = default;
  virtual ~model_interface() = default;
  model_interface(const model_interface&) = delete;
  model_interface& operator=(const model_interface&) = delete;

  virtual void start(event_loop& main) = 0;
  virtual void stop() noexcept = 0;
  /// [loop] Runs the item exactly once, here or on another thread.
  virtual void run(work_item& item) noexcept = 0;

  /// [loop] The main loop's. Picks the loop of the next connection. May throw.
  virtual event_loop& place() = 0;
  /// [loop] The same for a connection from this address. Only called where wants_address() is true.
  virtual event_loop& place(const address& /*from*/) { return place(); }
  [[nodiscard]] virtual bool wants_address() const noexcept { return false; }
  /// [loop] A connection that place() or occupy() counted on this loop is gone.
  virtual void release(event_loop& /*loop*/) noexcept {}
  /// [any thread] A connection comes to this loop from another one.
  virtual void occupy(event_loop& /*loop*/) noexcept {}

  /// [any thread] Whether run() always runs the item at once, on the caller's thread. Constant.
  [[nodiscard]] virtual bool runs_inline() const noexcept { return false; }
  /// [before run] The loops that live as long as the model. They can accept, and connections can move between them.
  /// Empty where the model does not tell.
  [[nodiscard]] virtual std::vector<event_loop*> lasting_loops() { return {}; }
  /// [any thread] Calls f for the counters of each loop that is or was the model's, without the main loop's.
  virtual void each_counters(const std::function<void(const loop_counters&)>& /*f*/) const {}
};

}  // namespace quintet
