// SPDX-License-Identifier: BSL-1.0
// placing: how servers and clients have a thread model place a connection.
#pragma once

#include "../../base/error.hpp"
#include "../../base/log.hpp"
#include "../engine/channel.hpp"
#include "loop_counters.hpp"
#include "thread_model.hpp"

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace quintet::detail {

/// [loop] Returns the peer's address, or that of the client which a proxy has told.
[[nodiscard]] address peer_of(event_loop& loop, const stream_handle& stream);

/// [loop] Main loop only. Returns the loop that the model picks for an accepted stream.
event_loop& pick(model_interface& model, event_loop& main, const stream_handle& stream);

/// [any thread] Posts on_loop(stream), which must not throw. If this throws, the caller keeps the stream, and on_loop
/// has been destroyed without a call.
template <std::invocable<stream_handle> OnLoop>
void post_stream(event_loop& loop, stream_handle&& stream, OnLoop on_loop) {
  loop.post([descriptor = stream.get(), carried = stream.carried(), facts = stream.facts(),
             f = std::move(on_loop)]() mutable noexcept {
    stream_handle s(descriptor, std::unique_ptr<transport>(carried));
    s.facts() = std::move(facts);
    f(std::move(s));
  });
  (void)stream.release();
  (void)stream.take_carried().release();  // NOLINT: the posted function owns it
}

/// [loop] Main loop only. Runs on_loop(loop, stream), which must not throw, on `loop`, which the model has picked. Only
/// a stream crosses threads: on_loop makes the connection on the loop that will own it. If place() throws, the caller
/// keeps the stream, on_loop has been destroyed without a call, and the model's place is released.
template <std::invocable<event_loop&, stream_handle> OnLoop>
void place(model_interface& model, event_loop& main, event_loop& loop, stream_handle&& stream, OnLoop on_loop) {
  if (&loop == &main) return on_loop(loop, std::move(stream));
  try {
    post_stream(loop, std::move(stream),
                [&loop, f = std::move(on_loop)](stream_handle s) mutable noexcept { f(loop, std::move(s)); });
  } catch (...) {
    model.release(loop);
    throw;
  }
}

/// [any thread] Adds the counters of the main loop and of the model's loops to `to`.
void add_counters(loop_statistics& to, const model_interface& model, event_loop& main);

/// [loop] Logs the CPUs to which the loops are pinned, if any. Call it when the loops' threads run.
void report_cpus(const log_hook& log, const std::vector<event_loop*>& loops);

/// [any thread] Call it in a catch block. Returns the reason why a thread model has not taken a connection.
error_code reason_of_exception() noexcept;
/// [any thread] Call it in a catch block. Returns why no session could be made of a handle: not_enough_memory for
/// std::bad_alloc, whoever has thrown it, and errc::handler_threw for all others: only the handler throws them.
error_code reason_of_unmade_session() noexcept;

}  // namespace quintet::detail
