// SPDX-License-Identifier: BSL-1.0
// placing: what servers and clients do with a thread model: they give it a handle to place, and a place back.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "loop_counters.hpp"
#include "model_interface.hpp"

#include <utility>
#include <vector>

namespace quintet::detail {

/// [loop] The main loop's. The loop that the model picks for a handle that was accepted.
event_loop& pick(model_interface& model, event_loop& main, int handle);

/// [loop] The main loop's. Runs admit(loop), which does not throw, on the loop that the model has picked. Only what
/// admit carries, a handle, crosses threads; the connection is made on the loop that will own it. When this throws,
/// admit was not run, and has been destroyed.
template <class Admit>
void place(model_interface& model, event_loop& main, event_loop& loop, Admit admit) {
  if (&loop == &main) return admit(loop);
  try {
    loop.post([&loop, a = std::move(admit)]() mutable noexcept { a(loop); });
  } catch (...) {
    model.release(loop);
    throw;
  }
}

/// [any thread] Adds what the main loop and the model's loops have counted.
void add_counters(loop_statistics& to, const model_interface& model, event_loop& main);

/// [loop] When the loops' threads run: tells the log on which CPUs they stay, if they do.
void report_cpus(const log_hook& log, const std::vector<event_loop*>& loops);

/// In a catch block: why a thread model has not taken a connection.
error_code reason_of_exception() noexcept;

}  // namespace quintet::detail
