// SPDX-License-Identifier: BSL-1.0
// handoff_steps: what a connection's work item runs: the steps of the baton on its way to the handler and back.
#pragma once

#include "../../base/work/work_item.hpp"

namespace quintet::detail {

class connection_core;

/// Each is a work_item::function of a connection. The first group runs where the thread model says, with the baton; the
/// handler's function is called, and the baton given back. The second group runs on the loop.
struct handoff_steps {
  static void open(work_item& item) noexcept;
  static void batch(work_item& item) noexcept;
  static void calls(work_item& item) noexcept;
  static void writable(work_item& item) noexcept;
  static void read_eof(work_item& item) noexcept;
  static void drain(work_item& item) noexcept;
  static void close(work_item& item) noexcept;
  /// In place of batch(): there was no memory for input that had to go to another thread.
  static void lost_batch(work_item& item) noexcept;

  /// Before the baton goes out.
  static void prepare(connection_core& c) noexcept;
  /// Before the item goes to another thread: lent input becomes the connection's own.
  static void on_handoff(work_item& item) noexcept;
  static void returned(work_item& item) noexcept;
  /// The last step.
  static void destroy(work_item& item) noexcept;
};

}  // namespace quintet::detail
