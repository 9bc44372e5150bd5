// SPDX-License-Identifier: BSL-1.0
// connection_extras: state that an idle connection does without; one object for each side, made on first use.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../names/address.hpp"
#include "../names/connection_id.hpp"
#include "../options/limits.hpp"
#include "connection_context.hpp"
#include "connection_deadlines.hpp"
#include "message_queue.hpp"
#include "send_notices.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet::detail {

/// Work deferred to the end of the loop's turn: sending the output of several messages, and calling send notices.
struct end_of_turn_work final : work_item {
  explicit end_of_turn_work(connection_context& c) noexcept : work_item(&end_of_turn_work::run), context(c) {}
  static void run(work_item& item) noexcept;
  connection_context& context;
  bool is_scheduled = false;
  bool sends = false;  // there is output to send, not only notices to call
};

/// The loop's side.
struct connection_loop_extras final : timer, fair_task {
  explicit connection_loop_extras(connection_context& c) noexcept : end(c) {}
  void expired() noexcept override;
  void run_quantum() noexcept override;
  end_of_turn_work end;
  // Messages.
  message_queue messages;
  // Output.
  send_notices notices;
  std::uint64_t taken = 0;         // bytes the kernel took while notices waited: the scale of their positions
  std::size_t output_charged = 0;  // queued bytes charged to the server's budget
  // Input.
  std::size_t input_charged = 0;  // bytes of input charged to it
  arrival at_drain;               // what had arrived when draining began
  int throttles = 0;              // connections fed by this one whose output is full
  unsigned futile_quanta = 0;     // in a row, without input between them, after a send has failed
  // Time.
  std::unique_ptr<connection_deadlines> deadlines;
  // Migration.
  event_loop* migrates_to = nullptr;  // once nothing is in progress
};

/// The baton's side.
struct connection_baton_extras {
  // Of the stream, while no engine has it. Only the loop's: it is here because these extras move with the connection.
  std::unique_ptr<transport> carried;
  // Messages.
  message_queue calls;  // messages that run with the baton
  std::unique_ptr<connection_settings> changed;
  error_code close_reason = make_error_code(boost::system::errc::not_enough_memory);  // default: storing it failed
  event_loop* migrates_to = nullptr;                                                  // requested in this batch
  std::unique_ptr<const address> peer;  // after the handle was closed, for on_close
  // Input.
  std::size_t required = 0;
  std::size_t kept = 0;  // input that the handler stores itself, if worth counting
  // Output.
  send_notices notices;            // positions are offsets in the builder
  std::size_t output_charged = 0;  // builder bytes charged to the server's budget
  std::size_t queued = 0;          // size of the queue at handoff
  unsigned dropped = 0;            // writes that overflow_policy::drop dropped in this batch
  unsigned checksum_errors = 0;    // of this batch
  unsigned corks = 0;              // live cork guards
};

}  // namespace quintet::detail
