// SPDX-License-Identifier: BSL-1.0
// connection_handoff: hands the baton from the loop to the handler, and back.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/work/work_item.hpp"

namespace quintet::detail {

class connection_core;

/// The connection's work item is the baton. Exactly one thread or queue has it. While it is out, the loop does not
/// touch [baton] data. After its return, the connection's steps decide what follows.
struct connection_handoff {
  // ---- [loop] ----

  /// Delivers input to the handler: on this thread, or where the thread model says.
  static void deliver(connection_core& c) noexcept;
  /// Asks the thread model to run a step.
  static void hand_off(connection_core& c, work_item::function step) noexcept;

  /// Puts into force what the handler asked for in its batch, and sends its output.
  static void end_of_batch(connection_core& c) noexcept;
  static void count_events(connection_core& c) noexcept;

  // ---- [baton] ----

  /// Returns the baton to the loop.
  static void give_back(connection_core& c) noexcept;

  // ---- Steps: each is a work_item::function, runs where the thread model says, and returns the baton ----------------

  static void open(work_item& item) noexcept;
  static void batch(work_item& item) noexcept;
  static void calls(work_item& item) noexcept;
  static void writable(work_item& item) noexcept;
  static void read_eof(work_item& item) noexcept;
  static void drain(work_item& item) noexcept;
  static void close(work_item& item) noexcept;
  /// Replaces batch() if there was no memory for input that had to go to another thread.
  static void lost_batch(work_item& item) noexcept;

  // ---- Steps on the loop ----

  /// Before the item goes to another thread: copies lent input to the connection's own buffer.
  static void on_handoff(work_item& item) noexcept;
  static void returned(work_item& item) noexcept;
  /// The last step.
  static void destroy(work_item& item) noexcept;

 private:
  static void prepare(connection_core& c) noexcept;
  static void run_or_dispatch(connection_core& c, work_item::function step, work_facts about) noexcept;
  static void run_guarded(connection_core& c) noexcept;
  static void run_guarded_batch(connection_core& c) noexcept;
  static void run_watched_batch(connection_core& c) noexcept;
  static void note_batch_cost(connection_core& c, duration took) noexcept;
};

}  // namespace quintet::detail
