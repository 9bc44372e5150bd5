// SPDX-License-Identifier: BSL-1.0
// connection_extras: what an idle connection does without; made when it is first needed, one object for each side.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../names/connection_id.hpp"
#include "../options/connection_limits.hpp"
#include "connection_deadlines.hpp"
#include "message_queue.hpp"
#include "send_notices.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet::detail {

class connection_context;

/// Of one connection alone.
struct connection_settings {
  connection_limits limits;
  connection_id source;
};

/// What waits for the end of the loop's turn: sending what several messages have brought, and functions that are to be
/// told what has been sent.
struct connection_turn_end final : work_item {
  explicit connection_turn_end(connection_context& c) noexcept : work_item(&connection_turn_end::run), of(c) {}
  static void run(work_item& item) noexcept;
  connection_context& of;
  bool is_scheduled = false;
  bool sends = false;  // there is output to send, and not only functions to call
};

/// The loop's side.
struct connection_loop_extras final : timer, fair_task {
  explicit connection_loop_extras(connection_context& c) noexcept : end(c) {}
  void expired() noexcept override;
  void run_quantum() noexcept override;
  connection_turn_end end;
  // Messages.
  message_queue messages;
  // Output.
  send_notices notices;
  std::uint64_t taken = 0;         // by the kernel of what there are notices for; their positions are counted by it
  std::size_t output_charged = 0;  // how much of the queue the server's budget knows of
  // Input.
  std::size_t input_charged = 0;  // the same of unread and pending input
  std::size_t drain_left = 0;     // received by the kernel when draining began, and not by us yet
  int throttles = 0;              // connections that this one feeds and whose output is full
  // Time.
  std::unique_ptr<connection_deadlines> deadlines;
  // Migration.
  event_loop* migrates_to = nullptr;  // as soon as nothing is in progress
};

/// The baton's side.
struct connection_baton_extras {
  // Messages.
  message_queue calls;  // messages that run with the baton
  std::unique_ptr<connection_settings> changed;
  error_code close_reason = make_error_code(boost::system::errc::not_enough_memory);  // if there was none to note it
  event_loop* migrates_to = nullptr;                                                  // asked for in this batch
  // Input.
  std::size_t required = 0;
  std::size_t kept = 0;  // input that the handler keeps itself, if it is worth counting
  // Output.
  send_notices notices;            // their positions are places in the builder
  std::size_t output_charged = 0;  // how much of the builder the server's budget knows of
  std::size_t queued = 0;          // what the queue held when the baton left
  unsigned dropped = 0;            // writes that overflow_policy::drop has dropped in this batch
  unsigned corks = 0;              // that are alive
};

}  // namespace quintet::detail
