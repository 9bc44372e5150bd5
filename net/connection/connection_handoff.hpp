// SPDX-License-Identifier: BSL-1.0
// connection_handoff: hands the baton from the loop to the handler, and back; and messages that wait for it.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/work/work_item.hpp"
#include "connection_context.hpp"
#include "connection_registry.hpp"

#include <cstdint>
#include <memory>

namespace quintet {

enum class callback : std::uint8_t;
class callback_scope;

}  // namespace quintet

namespace quintet::detail {

class connection_core;
class session_interface;

/// The connection's work item is the baton. Exactly one thread or queue has it. While it is out, the loop does not
/// touch [baton] data. After its return, the connection's steps decide what follows.
class connection_handoff {
 public:
  static constexpr auto of_loop = &connection_loop_flags::handoff;
  static constexpr auto of_baton = &connection_baton_flags::handoff;

  // ---- [loop] ----

  /// Records whether batches can take the fast path: those that run here, one after the other.
  static void choose_path(connection_context& c) noexcept {
    const handoff_constants& constant = c.constants_;
    c.loop_flags(key()).slow_path = constant.keeps_baton || !constant.runs_here;
  }
  /// The fast path's batch begins and ends within a call.
  static void begin_fast(connection_context& c) noexcept {
    c.loop_flags(key()).baton_out = true;
    c.guard_.enter();
  }
  static void end_fast(connection_context& c) noexcept { c.loop_flags(key()).baton_out = false; }
  /// A handshake of this connection has the baton until run_slow_return().
  static void begin_handshake(connection_core& c) noexcept;
  /// Handles a returned baton where the fast path does not apply.
  static void run_slow_return(connection_core& c) noexcept;

  /// Delivers input to the handler: on this thread, or where the thread model says.
  static void deliver(connection_core& c) noexcept;
  /// Asks the thread model to run a step.
  static void dispatch_step(connection_core& c, work_item::function call) noexcept;

  /// A message from outside. One that needs the baton waits for it; any other waits only for the end of a message that
  /// is being written, so that outside bytes never split it.
  static void take(connection_core& c, std::unique_ptr<connection_message> message) noexcept;
  /// Runs waiting messages that need no baton, and collects those that do.
  static void sort_messages(connection_core& c) noexcept;
  /// A close that waits for the baton comes after the messages before it, and drops those after it: else a stream of
  /// messages could delay it for ever.
  static void ask_to_close(connection_core& c) noexcept;
  /// Notes a cancel for the request that the handler works on, or whose output waits for room. Returns false if there
  /// is none.
  [[nodiscard]] static bool note_cancel(connection_context& c) noexcept {
    return c.loop_flags(key()).was_cancelled = c.baton_is_out() || c.waits_for_room();
  }
  static void close_is_accepted(connection_context& c) noexcept { c.loop_flags(key()).close_asked = false; }
  /// [loop, baton] Returns whether a close was asked for, and no message is before it.
  [[nodiscard]] static bool must_close(const connection_context& c) noexcept {
    const handoff_loop_flags& flags = c.loop_flags().handoff;
    return flags.close_asked && !flags.has_messages && !c.baton_flags().handoff.has_calls;
  }

  /// [loop, baton] Returns whether nothing here would have to migrate with the connection.
  [[nodiscard]] static bool is_quiescent(const connection_context& c) noexcept {
    return !c.loop_flags().handoff.has_messages && !c.baton_flags().handoff.has_calls;
  }

  // ---- [baton] ----

  /// Calls f, which calls the handler. An exception closes this connection, and nothing else.
  template <class F>
  static void guarded(connection_core& c, F f) noexcept try {
    f();
  } catch (...) {
    note_exception(c);
  }
  /// The handler has failed: after the baton's return the connection closes without sending the rest.
  static void fail_handler(connection_context& c) noexcept { c.baton_flags(key()).handler_failed = true; }
  /// In a catch block: logs the current exception.
  static void report_exception(const connection_core& c) noexcept;
  /// The same, and the handler has failed.
  static void note_exception(connection_core& c) noexcept;
  /// [loop, baton] Returns whether the handler has failed, counts that, and forgets it.
  static bool take_failure(connection_core& c) noexcept;
  /// Shows the watchdog, if there is one, which callback this thread runs, until the result is destroyed.
  [[nodiscard]] static callback_scope calling(const connection_core& c, callback what,
                                              const char* type = nullptr) noexcept;
  /// Returns the baton to the loop, which then runs `back`.
  static void give_back(connection_core& c, work_item::function back = &connection_handoff::returned) noexcept;
  /// [loop] A coroutine's baton goes to another thread without the loop: lends it, and takes it back.
  static void lend(connection_context& c) noexcept { c.loop_flags(key()).baton_lent = true; }
  static void take_back(connection_context& c) noexcept { c.loop_flags(key()).baton_lent = false; }

  // ---- Steps: each is a work_item::function, runs where the thread model says, and returns the baton ----------------

  static void batch(work_item& item) noexcept;
  static void calls(work_item& item) noexcept;
  static void writable(work_item& item) noexcept;
  static void limit(work_item& item) noexcept;
  static void close(work_item& item) noexcept;
  /// A step that only calls the handler.
  template <callback What, void (session_interface::*Run)()>
  static void call(work_item& item) noexcept;
  static const work_item::function open, read_eof, drain;

  // ---- Steps on the loop ----

  /// Before the item goes to another thread: copies lent input to the connection's own buffer.
  static void on_handoff(work_item& item) noexcept;
  static void returned(work_item& item) noexcept;
  /// The last step.
  static void destroy(work_item& item) noexcept;

 private:
  using key = part_key<connection_handoff>;

  static void prepare(connection_core& c, bool is_input) noexcept;
  static void run_or_dispatch(connection_core& c, work_item::function step, work_facts about) noexcept;
  static void run_guarded_batch(connection_core& c) noexcept;
  static void run_watched_batch(connection_core& c) noexcept;
  static void skip_batch(connection_core& c) noexcept;
  static void count_skipped(connection_core& c) noexcept;
  static void returned_writable(work_item& item) noexcept;
};

}  // namespace quintet::detail
