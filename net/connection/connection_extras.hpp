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
#include "connection_registry.hpp"
#include "connection_securing.hpp"
#include "send_notices.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet::detail {

class connection_input;
class connection_output;

/// Messages that have arrived and wait to run; first in, first out. Not synchronised.
class message_queue {
 public:
  message_queue() noexcept = default;
  message_queue(const message_queue&) = delete;
  message_queue& operator=(const message_queue&) = delete;
  ~message_queue() {
    while (pop()) {
    }
  }
  void push(std::unique_ptr<connection_message> message) noexcept { waiting_.push(*message.release()); }
  /// Returns the oldest message, or null.
  std::unique_ptr<connection_message> pop() noexcept {
    return std::unique_ptr<connection_message>(static_cast<connection_message*>(waiting_.pop()));
  }

 private:
  work_fifo waiting_;
};

// Only the part named in the type may access its fields.

class output_loop_extras {
  friend connection_output;
  send_notices notices_;
  std::uint64_t taken_ = 0;         // bytes the kernel took while notices waited: the scale of their positions
  std::size_t charged_ = 0;         // queued bytes charged to the server's budget
  unsigned futile_quanta_ = 0;      // in a row, without input between them, after a send has failed
  bool is_at_turn_end_ = false;     // the extras are deferred
  bool sends_at_turn_end_ = false;  // there is output to send then, not only notices to call
};
class input_loop_extras {
  friend connection_input;
  std::size_t charged_ = 0;  // bytes of input charged to the server's budget
  arrival at_drain_;         // what had arrived when draining began
  int throttles_ = 0;        // connections fed by this one whose output is full
};

/// The loop's side: a timer, a task that writes much, and work at the end of the loop's turn.
struct connection_loop_extras final : timer, fair_task, work_item {
  explicit connection_loop_extras(connection_context& c) noexcept
      : work_item([](work_item& item) noexcept { static_cast<connection_loop_extras&>(item).context.turn_ends(); }),
        context(c) {}
  void expired() noexcept override { context.expired(); }
  void run_quantum() noexcept override { context.continue_writing(); }

  connection_context& context;
  output_loop_extras output;
  input_loop_extras input;
  message_queue messages;  // of connection_handoff
  std::unique_ptr<connection_deadlines> deadlines;
  event_loop* migrates_to = nullptr;        // of connection_migration: once nothing is in progress
  midstream_handshake* securing = nullptr;  // of connection_securing: in progress
};

class output_baton_extras {
  friend connection_output;
  send_notices notices_;     // positions are offsets in the builder
  std::size_t charged_ = 0;  // builder bytes charged to the server's budget
  std::size_t queued_ = 0;   // size of the queue at handoff
  unsigned corks_ = 0;       // live cork guards
};
class input_baton_extras {
  friend connection_input;
  std::size_t required_ = 0;
  std::size_t kept_ = 0;  // input that the handler stores itself, if worth counting
};

/// What a batch has counted. The counters belong to the loop, which a handler in a pool may not touch.
struct batch_counts {
  unsigned dropped = 0;  ///< writes, by overflow_policy::drop
  unsigned checksum_errors = 0;
};

/// The baton's side.
struct connection_baton_extras {
  // Of the stream, while no engine has it. Only the loop's: it is here because these extras move with the connection.
  std::unique_ptr<transport> carried;
  output_baton_extras output;
  input_baton_extras input;
  batch_counts counts;
  message_queue calls;  // of connection_handoff: messages that run with the baton
  std::unique_ptr<connection_settings> changed;
  error_code close_reason = make_error_code(boost::system::errc::not_enough_memory);  // default: storing it failed
  event_loop* migrates_to = nullptr;            // of connection_migration: requested in this batch
  std::unique_ptr<tls_request> starts_tls;      // of connection_securing
  std::shared_ptr<const connection_ends> ends;  // told by a proxy; else after the handle was closed, for on_close
  std::shared_ptr<const tls_info> tls;          // null: the stream had no handshake
  cancel_key key{};                             // none: nobody has asked for it
};

}  // namespace quintet::detail
