// SPDX-License-Identifier: BSL-1.0
// connection_core: coordinates a connection's parts: takes events of engine, loop and handler, and decides.
#pragma once

#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "connection_input.hpp"
#include "connection_output.hpp"
#include "session_interface.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet {

enum class callback : std::uint8_t;
class callback_scope;

}  // namespace quintet

namespace quintet::detail {

class connection_core;
struct connection_facts;
/// [loop] Handles a returned baton where the fast path does not apply. Defined by connection_handoff.
void run_slow_return(connection_core& c) noexcept;
enum class step : std::uint8_t;

/// The loop owns the socket side: the handle, the queue, pending input. The holder of the baton owns the data side:
/// unread input, the output builder, the handler's members. There is one baton. The loop hands it to the handler with a
/// batch of input; the handler returns it with a batch of output. So a handler never overlaps itself, on any thread,
/// and nothing here needs a lock.
///
/// An event that the fast path does not handle calls run_steps(): next_step() decides, perform() acts. The work item is
/// the baton; connection_handoff has its steps.
class connection_core : public session_interface, public loop_member, public work_item {
 public:
  // ---- For sessions ----

  /// [loop] Opens: takes ownership of the stream, watches it, and calls run_open() where the model says. On an error
  /// nothing has begun: the caller keeps the stream and the session, and tells its owner. No callback will do so.
  [[nodiscard]] error_code open(stream_handle&& stream, enabled_callbacks enabled) noexcept;
  /// [loop] After the end: return the reason, and whether this side closed before the peer had finished sending.
  [[nodiscard]] error_code reason() const noexcept;
  [[nodiscard]] bool closed_here() const noexcept { return closed_here_; }
  /// Returns the error for send notices; never none, which would mean "sent".
  [[nodiscard]] error_code why_not_sent() const noexcept { return reason() ? reason() : errc::end_of_stream; }
  /// [loop] Takes the baton for a batch that can run at once: nearly every batch where handlers run on the loop. On
  /// true, the caller runs the handler, then fast_path_done(). On false, it calls receive().
  [[nodiscard]] bool try_fast_path(bytes arrived) noexcept {
    note_received(arrived.size());
    if (!is_idle()) [[unlikely]]
      return false;
    loop_.counters().batches.add();
    loop_flags_.handoff.baton_out = true;
    guard_.enter();
    output_.prepare(*this);
    return true;
  }
  void fast_path_done(bytes arrived, std::size_t used) noexcept {
    guard_.leave();
    if (used < arrived.size()) [[unlikely]]
      keep_unread(arrived.substr(used));
    if (!loop_flags_.only_baton_out() || !baton_flags_.none()) [[unlikely]]
      return run_slow_return(*this);
    loop_flags_.handoff.baton_out = false;
    output_.send_piece(*this, [this](engine::send_result sent) noexcept { keep_sending(sent); });
  }
  /// [loop] Takes input that does not use the fast path.
  void receive(bytes arrived) noexcept;
  /// [baton] Calls f. An exception closes this connection, and nothing else.
  template <class F>
  void guarded(F f) noexcept try {
    f();
  } catch (...) {
    report_exception();
    fail_handler();
  }
  /// [baton] Marks the handler as failed: after the baton's return the connection closes without sending the rest.
  void fail_handler() noexcept { baton_flags_.handoff.handler_failed = true; }
  /// [baton] In a catch block: logs the current exception.
  void report_exception() const noexcept;
  /// [baton] Shows the watchdog, if there is one, which callback this thread runs, until the result is destroyed.
  [[nodiscard]] callback_scope calling(callback what, const char* type = nullptr) const noexcept;
  /// [baton] After run_close(): schedules destruction. connection_handoff calls it unless the session keeps the baton.
  void close_is_done() noexcept;
  /// [baton, loop] Returns all input, unread and pending. Without memory the connection ends.
  bytes take_input() noexcept {
    if (loop_flags_.input.has_pending) [[unlikely]]
      absorb_pending();
    return input_.peek(*this);
  }
  /// [baton] Returns whether the handler must let others have their turn before it writes more.
  [[nodiscard]] bool is_full() const noexcept;
  /// [baton] Sends output in the middle of a batch, or queues it behind earlier output. Returns false if it may not.
  bool send_early(counter& reason) noexcept;

  // ---- For the parts, the steps and the registry [loop] ----

  /// Ends the connection; the first reason counts. While the baton is out, on_close waits for its return.
  void fail(error_code why) noexcept;
  /// The same for the reason that a part has returned. After a failed send the connection ends only once the handler
  /// has had all input.
  void fail_if(end_reason why) noexcept {
    if (why) [[unlikely]]
      why.is_of_send() ? stop_sending(why.code()) : fail(why.code());
  }
  void out_of_memory() noexcept { fail(no_memory()); }
  /// Starts on_close, once the connection has ended and the baton was returned for the last time.
  void begin_to_close() noexcept;
  void take(std::unique_ptr<connection_message> message) noexcept;
  void send_from_outside(const shared_bytes& data) noexcept;
  void close_from_outside() noexcept;
  void abort_from_outside() noexcept;
  void throttle(int change) noexcept;
  void end_if_silent(std::uint32_t looks) noexcept;
  /// Starts draining: input that has arrived by now is still answered.
  void drain() noexcept;
  /// Put into force: settings that the handler changed, and the current limits (false: without memory).
  void apply_changes() noexcept;
  [[nodiscard]] bool use_limits() noexcept;
  void expired() noexcept final;
  void turn_ends() noexcept final;
  void continue_writing() noexcept final;
  /// Performs steps until none is left. A nested call returns at once.
  void run_steps() noexcept;
  [[nodiscard]] bool needs_slow_path() const noexcept {
    return constants_.keeps_baton || !constants_.runs_here || constants_.is_watched || enabled_.urgent ||
           enabled_.classify;
  }
  /// Appends to unread input. Without memory the connection ends.
  void keep_unread(bytes unused) noexcept;
  /// [baton] After a write: starts to send if the batch has written much.
  void has_written() noexcept;
  [[nodiscard]] connection& as_connection() noexcept;
  using work_item::become, work_item::note_cost, work_item::set_facts, work_item::take_cost_from;

  connection_output output_;
  connection_input input_;
  bool stays_half_open_ : 1 = false;  // loop: on_read_eof was dispatched, and the handler will close
  bool drained_ : 1 = false;          // loop: all input received before draining began was delivered
  bool drain_begun_ : 1 = false;      // loop: drain() was called, also if the connection has ended since
  bool baton_lent_ : 1 = false;       // loop: a coroutine waits for a function that holds its baton on another thread

 protected:
  /// `migrated`: takes over from another object, see connection_migration.
  connection_core(event_loop& loop, connection_host& host, handoff_constants constants, bool migrated);
  ~connection_core();

 private:
  // Events of the engine and the loop.
  void on_received(bytes arrived) noexcept override;
  void on_receive_end(error_code reason) noexcept override;
  std::span<char> receive_space() noexcept override;
  void on_received_in_place(std::size_t count) noexcept override;
  void on_sendable() noexcept override;
  void on_send_failed(error_code reason) noexcept override;
  [[nodiscard]] duration longest_send() const noexcept override;
  void abort() noexcept override;

  void note_received(std::size_t count) noexcept {
    loop_.counters().received(count);
    silence_.end();
  }
  void take_in(bytes arrived) noexcept;
  void absorb_pending() noexcept;
  bytes filter_urgent(bytes arrived, bool at_end) noexcept;
  void keep_sending(engine::send_result sent) noexcept;
  void stop_sending(error_code why) noexcept;
  // connection_core_steps.cpp
  [[nodiscard]] connection_facts facts() const noexcept;
  void perform(step next) noexcept;
  void perform_on_input(step next) noexcept;
  void accept_close_request() noexcept;
  void run_loop_messages() noexcept;
  void deliver_unseen() noexcept;
  void begin_to_linger() noexcept;
  void rest() noexcept;

  bool is_stepping_ : 1 = false;  // loop: run_steps() is on the stack
  bool closed_here_ : 1 = false;
  int reason_ = 0;  // loop: of the end, or why send_failed or was_reset is set
  const boost::system::error_category* reason_category_ = &boost::system::system_category();
};

}  // namespace quintet::detail
