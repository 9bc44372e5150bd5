// SPDX-License-Identifier: BSL-1.0
// thread_model: the two questions of a server about threads: which loop owns a connection, and which thread runs work.
#pragma once

#include "../../base/work/work_item.hpp"
#include "event_loop.hpp"

#include <concepts>

namespace quintet {

/// The requirements of a thread model:
///
///   start(main)   called before the first connection, on the main loop's thread. The main loop outlives the model's
///                 threads
///   place()       called on the main loop's thread. Returns the loop that owns the next connection. May throw: the
///                 connection is then refused
///   run(w)        called on a loop's thread. Runs w exactly once, at once or on another thread. For another thread it
///                 must first call w.hand_off() on the calling thread
///   stop()        called when the main loop has ended. Ends all threads. A loop ends when its connections have left,
///                 and these may wait for work on other threads. So end the loops first, then the other threads
///
/// Optional:
///
///   place(from)       place() for a connection accepted from this address
///   wants_address()   with place(from): whether the address may change the result
///   release(loop)     called on that loop's thread: a connection that place() or occupy() counted there has left
///   occupy(loop)      called on any thread: a connection migrates to this loop, one of each_loop(). Its old loop is
///                     told by release()
///   runs_inline()     called on any thread, constant: whether run(w) always runs w at once on the calling thread.
///                     Connections then do not call run()
///   each_loop(f)      called before start(): calls f(event_loop&) for each loop that place() may return, in order.
///                     Only for models whose loops exist from the beginning. Such loops can accept, and connections
///                     can migrate between them
///   each_counters(f)  called on any thread: calls f(const loop_counters&) for each present or past loop except the
///                     main loop
template <class M>
concept thread_model = requires(M& m, event_loop& main, work_item& w) {
  { m.start(main) } -> std::same_as<void>;
  { m.place() } -> std::same_as<event_loop&>;
  { m.run(w) } -> std::same_as<void>;
  { m.stop() } -> std::same_as<void>;
};

}  // namespace quintet
