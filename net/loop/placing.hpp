// SPDX-License-Identifier: BSL-1.0
// placing: how servers and clients have a thread model place a connection.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "loop_counters.hpp"
#include "thread_model.hpp"

#include <concepts>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace quintet::detail {

/// [loop] Main loop only. Returns the loop that the model picks for an accepted handle.
event_loop& pick(model_interface& model, event_loop& main, int handle);

/// [loop] Main loop only. Runs on_loop(loop), which must not throw, on `loop`, which the model has picked. Only a
/// handle crosses threads: on_loop makes the connection on the loop that will own it. If place() throws, on_loop has
/// been destroyed without a call, and the model's place is released.
template <class OnLoop>
void place(model_interface& model, event_loop& main, event_loop& loop, OnLoop on_loop) {
  if (&loop == &main) return on_loop(loop);
  try {
    loop.post([&loop, a = std::move(on_loop)]() mutable noexcept { a(loop); });
  } catch (...) {
    model.release(loop);
    throw;
  }
}

/// [any thread] Adds the counters of the main loop and of the model's loops to `to`.
void add_counters(loop_statistics& to, const model_interface& model, event_loop& main);

/// [loop] Logs the CPUs to which the loops are pinned, if any. Call it when the loops' threads run.
void report_cpus(const log_hook& log, const std::vector<event_loop*>& loops);

/// [any thread] Logs an event with the peer's address, which `make_address` returns as a string. Without memory for the
/// address the event has none.
template <std::invocable F>
void report_of_peer(const log_hook& log, log_event event, F make_address) noexcept {
  if (!log) return;
  std::string peer;
  try {
    peer = make_address();
  } catch (const std::bad_alloc&) {  // the event matters more
  }
  event.address = peer;
  report(log, event);
}

/// [any thread] Call it in a catch block. Returns the reason why a thread model has not taken a connection.
error_code reason_of_exception() noexcept;
/// [any thread] Call it in a catch block. Returns why no session could be made of a handle: not_enough_memory for
/// std::bad_alloc, whoever has thrown it, and errc::handler_threw for all others: only the handler throws them.
error_code reason_of_unmade_session() noexcept;

}  // namespace quintet::detail
