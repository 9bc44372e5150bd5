// SPDX-License-Identifier: BSL-1.0
// model_interface: a thread model behind virtual functions, for code that does not depend on the model's type.
#pragma once

#include "../../base/work/work_item.hpp"
#include "event_loop.hpp"

#include <functional>
#include <vector>

namespace quintet {

/// The functions of `thread_model`, which documents each of them. Optional functions have a default here.
class model_interface {
 public:
  model_interface() = default;
  virtual ~model_interface() = default;
  model_interface(const model_interface&) = delete;
  model_interface& operator=(const model_interface&) = delete;

  virtual void start(event_loop& main) = 0;
  virtual void stop() noexcept = 0;
  /// [loop] Runs the item exactly once, on this thread or another.
  virtual void run(work_item& item) noexcept = 0;

  /// [loop] Main loop only. Picks the loop of the next connection. May throw.
  virtual event_loop& place() = 0;
  /// [loop] Main loop only. Picks the loop of a connection from this address. Called only if wants_address() is true.
  virtual event_loop& place(const address& /*from*/) { return place(); }
  [[nodiscard]] virtual bool wants_address() const noexcept { return false; }
  /// [loop] A connection that place() or occupy() counted on this loop has closed or migrated.
  virtual void release(event_loop& /*loop*/) noexcept {}
  /// [any thread] A connection migrates to this loop from another one.
  virtual void occupy(event_loop& /*loop*/) noexcept {}

  /// [any thread] Whether run() always runs the item at once on the caller's thread. Constant.
  [[nodiscard]] virtual bool runs_inline() const noexcept { return false; }
  /// [before run] Returns the loops that live as long as the model. They can accept, and connections can migrate
  /// between them. Empty if the model does not tell.
  [[nodiscard]] virtual std::vector<event_loop*> lasting_loops() { return {}; }
  /// [any thread] Calls f with the counters of each present or past loop of the model, except the main loop.
  virtual void each_counters(const std::function<void(const loop_counters&)>& /*f*/) const {}
};

}  // namespace quintet
