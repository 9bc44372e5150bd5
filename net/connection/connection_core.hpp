// SPDX-License-Identifier: BSL-1.0
// connection_core: the coordinator of a connection's parts: what the engine, the loop and the handler have to say, and
// what comes next.
#pragma once

#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../watch/activity.hpp"
#include "connection_handoff.hpp"
#include "connection_input.hpp"
#include "connection_output.hpp"
#include "next_step.hpp"
#include "session_interface.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeinfo>

namespace quintet::detail {

/// The loop owns the socket side: the handle, the queue, pending input. Whoever holds the baton owns the data side:
/// unread input, the builder of output, the handler's members. There is one baton. The loop gives it to the handler
/// with a batch of input, and gets it back with a batch of output. So a handler never overlaps itself, on whatever
/// thread it runs, and nothing here needs a lock.
///
/// Events only note what has happened, and then call run_steps(): next_step() decides, perform() does it. The work item
/// is the baton: connection_handoff says what it does while it is out.
class connection_core : public session_interface, public loop_member, public work_item {
 public:
  // ---- For sessions ----

  /// [loop] Begins: watches the handle, which it owns from now on, and calls run_open() where the model says.
  void open(int handle, enabled_callbacks enabled) noexcept;
  /// [loop] Of one that has ended: why, and whether it was closed at this end, by the handler or through the registry,
  /// before the peer had finished.
  [[nodiscard]] error_code reason() const noexcept { return {reason_, *reason_category_}; }
  [[nodiscard]] bool closed_here() const noexcept { return closed_here_; }
  /// What send notices are told. Never none, which would mean that it was sent.
  [[nodiscard]] error_code why_not_sent() const noexcept { return reason() ? reason() : errc::end_of_stream; }
  /// [loop] Takes the baton for a batch that can be run here and now, with nothing else to think about: nearly each
  /// where handlers run on the loop. The caller calls fast_path_done() after the handler. False: it calls receive().
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
      return connection_handoff::returned_slowly(*this);
    loop_flags_.handoff.baton_out = false;
    output_.send_piece(*this, [this](engine::send_result sent) noexcept { keep_sending(sent); });
  }
  /// [loop] Input that does not take the fast path.
  void receive(bytes arrived) noexcept;
  /// [baton] Calls f: what the handler lets out ends its connection, and nothing else.
  template <class F>
  void guarded(F f) noexcept try {
    f();
  } catch (...) {
    report_exception();
    fail_handler();
  }
  /// [baton] The handler has failed: once the baton is back the connection closes, without sending what is left.
  void fail_handler() noexcept { baton_flags_.handoff.handler_failed = true; }
  /// [baton] In a catch block: tells the log what the handler has let out.
  void report_exception() const noexcept;
  /// [baton] While it lives, the watchdog, if there is one, knows what this thread has called.
  [[nodiscard]] activity::scope calling(callback what, const std::type_info* type = nullptr) const noexcept;
  /// [baton] After run_close(): the connection may go. Called by connection_handoff unless the baton was kept.
  void close_is_done() noexcept;
  /// [baton, loop] All input there is: what was unread and what was pending. Without memory the connection ends.
  bytes take_input() noexcept {
    if (loop_flags_.input.has_pending) [[unlikely]]
      absorb_pending();
    return input_.look(*this);
  }
  /// [baton] Whether the handler has written what it may before others have their turn.
  [[nodiscard]] bool is_full() const noexcept;
  /// [baton] Sends what was written, in the middle of a batch. False when nothing has left.
  bool send_early(counter& reason) noexcept;

  // ---- For the parts, the steps and the registry [loop] ----

  /// Ends the connection: the first reason counts. With the baton out on_close waits until it is back.
  void fail(error_code why) noexcept;
  void fail_if(end_reason why) noexcept {
    if (why) [[unlikely]]
      fail(why.code());
  }
  void out_of_memory() noexcept { fail(no_memory()); }
  /// The connection has ended, and the baton is at home for the last time.
  void begin_to_close() noexcept;
  /// Whether bytes from outside may be sent now: they would not lie within what the handler writes.
  [[nodiscard]] bool takes_bytes_now() const noexcept {
    return !loop_flags_.output.partial_message && !loop_flags_.handoff.has_messages;
  }
  void take(std::unique_ptr<connection_message> message) noexcept;
  void send_from_outside(const shared_bytes& data) noexcept;
  void close_from_outside() noexcept;
  void abort_from_outside() noexcept;
  void throttle(int change) noexcept;
  void end_if_silent(std::uint32_t looks) noexcept;
  /// The server drains: what the kernel has received by now is still answered.
  void drain() noexcept;
  /// Settings that the handler has changed, and limits as they are now.
  void apply_changes() noexcept;
  void use_limits() noexcept;
  void expired() noexcept final;
  void turn_ends() noexcept final;
  void continue_writing() noexcept final;
  /// What comes next, until there is nothing to do. Called by every event; a call within a call returns at once.
  void run_steps() noexcept;
  [[nodiscard]] bool is_on_loop() const noexcept { return constants_.runs_here || loop_.in_this_thread(); }
  [[nodiscard]] bool needs_slow_path() const noexcept {
    return constants_.keeps_baton || !constants_.runs_here || constants_.is_watched || enabled_.urgent ||
           enabled_.classify;
  }
  /// Behind what is unread. Without memory the connection ends.
  void keep_unread(bytes unused) noexcept;
  /// [baton] After a write: a batch that has written much begins to send.
  void has_written() noexcept;
  [[nodiscard]] connection& as_connection() noexcept;
  using work_item::become, work_item::note_cost, work_item::set_facts, work_item::take_cost_from;

  connection_output output_;
  connection_input input_;
  bool stays_half_open_ : 1 = false;  // loop: the handler was told of the end of input, and will close
  bool drained_ : 1 = false;          // loop: everything that had been received when draining began has been delivered

 protected:
  /// `migrated`: it takes over from another object, see connection_migration.
  connection_core(event_loop& loop, connection_host& host, handoff_constants constants, bool migrated);
  ~connection_core();

 private:
  // The engine and the loop.
  void on_received(bytes arrived) noexcept override;
  void on_receive_end(error_code reason) noexcept override;
  std::span<char> receive_space() noexcept override;
  void on_received_in_place(std::size_t count) noexcept override;
  void on_sendable() noexcept override;
  [[nodiscard]] duration longest_send() const noexcept override { return applied_limits().longest_send(); }
  void abort() noexcept override;

  void note_received(std::size_t count) noexcept {
    loop_.counters().received(count);
    silence_.end();
  }
  void take_in(bytes arrived) noexcept;
  void absorb_pending() noexcept;
  bytes sift(bytes arrived, bool at_end) noexcept;
  void keep_sending(engine::send_result sent) noexcept;
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
  int reason_ = 0;  // loop: of the end
  const boost::system::error_category* reason_category_ = &boost::system::system_category();
};

}  // namespace quintet::detail
