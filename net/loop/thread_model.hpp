// SPDX-License-Identifier: BSL-1.0
// thread_model: the only two questions that a server asks about threads: where does a connection live, who runs this?
#pragma once

#include "../../base/work/work_item.hpp"
#include "event_loop.hpp"

#include <concepts>

namespace quintet {

/// A model of your own plugs in by these verbs:
///
///   start(main)   before the first connection, on the main loop's thread; the main loop outlives the model's threads
///   place()       on the main loop's thread: the loop that owns the next connection. May throw; the connection is
///                 refused then
///   run(w)        on a loop's thread: run w exactly once, here and now, or on another thread; in the second case call
///                 w.hand_off() first, here
///   stop()        the main loop has ended: end all threads. A loop ends when its connections have left, and they may
///                 wait for work that is being run elsewhere: so end loops first, then whatever else runs work
///
/// Optional:
///   place(from)     the same as place(), for a connection that was accepted from this address; with wants_address(),
///                   which says that it may change something
///   release(loop)   on that loop's thread: a connection that place() put there, or that occupy() told of, has gone
///   occupy(loop)    any thread: a connection comes to this loop, one of each_loop(), from another one, which is told
///                   by release()
///   runs_inline()   any thread, constant: whether run(w) always runs w here and now. Connections do not ask then
///   each_loop(f)    before start(): f(event_loop&) for every loop that place() may ever return, in their order; only
///                   where they are there from the beginning. Such a model's loops can accept for themselves, and
///                   connections can move between them
///   each_counters(f)  any thread: f(const loop_counters&) for every loop there is or was besides the main one
template <class M>
concept thread_model = requires(M& m, event_loop& main, work_item& w) {
  { m.start(main) } -> std::same_as<void>;
  { m.place() } -> std::same_as<event_loop&>;
  { m.run(w) } -> std::same_as<void>;
  { m.stop() } -> std::same_as<void>;
};

}  // namespace quintet
