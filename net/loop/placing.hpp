// SPDX-License-Identifier: BSL-1.0
// placing: what servers and clients do with a thread model: give it a handle to place, and a place back.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "loop_counters.hpp"
#include "thread_model.hpp"

#include <utility>
#include <vector>

namespace quintet::detail {

/// [loop] A connection that place() has put on this loop has gone.
template <thread_model Model>
void release_place(Model& model, event_loop& loop) noexcept {
  if constexpr (requires { model.release(loop); }) model.release(loop);
}

/// [any thread] A connection comes to this loop from another one.
template <thread_model Model>
void occupy_place(Model& model, event_loop& loop) noexcept {
  if constexpr (requires { model.occupy(loop); }) model.occupy(loop);
}

/// [any thread] Whether the model runs every item at once, on the loop's own thread.
template <thread_model Model>
bool runs_inline(const Model& model) noexcept {
  if constexpr (requires { model.runs_inline(); })
    return model.runs_inline();
  else
    return false;
}

/// [before run] The loops that can accept for themselves: none, where the model does not say.
template <thread_model Model>
std::vector<event_loop*> lasting_loops(Model& model) {
  std::vector<event_loop*> loops;
  const auto add = [&loops](event_loop& l) { loops.push_back(&l); };
  if constexpr (requires { model.each_loop(add); }) model.each_loop(add);
  return loops;
}

/// [loop] The main loop's. The loop that the model picks for a handle that was accepted.
template <thread_model Model>
event_loop& pick(Model& model, event_loop& main, int handle) {
  if constexpr (requires(const address& from) { model.place(from); }) {
    if constexpr (requires { model.wants_address(); })
      if (!model.wants_address()) return model.place();
    return model.place(main.io().sockets().remote_address(handle));
  } else {
    return model.place();
  }
}

/// [loop] The main loop's. Runs admit(loop), which does not throw, on that loop, which the model has picked: only what
/// admit carries, a handle, crosses threads; the connection is made on the loop that will own it. When this throws,
/// admit was not run, and has been destroyed.
template <thread_model Model, class Admit>
void place(Model& model, event_loop& main, event_loop& loop, Admit admit) {
  if (&loop == &main) return admit(loop);
  try {
    loop.post([&loop, a = std::move(admit)]() mutable noexcept { a(loop); });
  } catch (...) {
    release_place(model, loop);
    throw;
  }
}

/// [any thread] Adds what the main loop and the model's loops have counted.
template <thread_model Model>
void add_counters(loop_statistics& to, const Model& model, event_loop& main) {
  to.add(main.counters());
  const auto add = [&to](const loop_counters& c) { to.add(c); };
  if constexpr (requires { model.each_counters(add); }) model.each_counters(add);
}

/// [loop] When the loops' threads run: tells the log on which CPUs they stay, if they do.
void report_cpus(const log_hook& log, const std::vector<event_loop*>& loops);

/// In a catch block: why a thread model has not taken a connection.
error_code reason_of_exception() noexcept;

}  // namespace quintet::detail
