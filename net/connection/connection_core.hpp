// SPDX-License-Identifier: BSL-1.0
// connection_core: coordinates a connection's parts: takes events of engine, loop and handler, and decides. Also the
// calls from a connection to its session (the connection with its handler): session_interface.
#pragma once

#include "../../base/bytes.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "connection_handoff.hpp"
#include "connection_input.hpp"
#include "connection_output.hpp"

#include <cstddef>
#include <cstdint>

namespace quintet {

enum class connection_class : std::uint8_t;

}  // namespace quintet

namespace quintet::detail {

struct connection_facts;
enum class step : std::uint8_t;

/// dispatch() asks the thread model to run the connection's work item. The item calls a run_ function, which returns
/// with the baton still held. This class shares the channel's virtual table, so that a connection has one pointer less.
class session_interface : public connection_context {
 public:
  /// [loop] The first call: hands over the stream, unless it returns an error. See connection_core::open().
  [[nodiscard]] virtual error_code begin(stream_handle&& stream) noexcept = 0;
  virtual void dispatch(work_item& item) noexcept = 0;
  virtual void run_open() = 0;
  /// Returns the number of bytes used.
  virtual std::size_t run_batch(bytes input) = 0;
  virtual std::size_t run_overload(bytes) { return 0; }
  virtual connection_class run_classify(bytes) { return {}; }  // ordinary
  virtual void run_writable() = 0;
  virtual void run_read_eof() {}
  virtual void run_drain() {}
  virtual void run_limit(error_code) {}
  virtual void run_close(error_code why) noexcept = 0;
  /// [loop] The last call.
  virtual void destroy() noexcept = 0;
  /// [loop, baton] Makes an object with the handler on the loop to which the connection migrates. It must not touch its
  /// loop before it is attached there. Returns null if that fails.
  virtual connection_core* make_migrated(event_loop&) noexcept { return nullptr; }
  /// [loop] The last call if the connection has migrated.
  virtual void discard() noexcept {}
  [[nodiscard]] virtual const char* handler_type() const noexcept = 0;
  /// [loop] A handshake has returned the baton.
  virtual void secured() noexcept {}
  /// [loop] Cancels what the baton's holder awaits now. Without a holder, a coroutine that waits for room goes on.
  virtual void interrupt() noexcept {}

 protected:
  using connection_context::connection_context;
  ~session_interface() = default;
};

/// A session (a connection with its handler) owns itself, from begin() on its loop's thread to
/// session_manager::retire() on the same thread. It is finished when its phase is `ended` and its loop has the baton:
/// then the handle is closed and on_close runs where handlers run. The object is destroyed on its loop at the end of a
/// turn, because events of that turn may still name it.
///
/// The loop owns the socket side: the handle, the queue, pending input. The holder of the baton owns the data side:
/// unread input, the output builder, the handler's members. There is one baton. The loop hands it to the handler with a
/// batch of input; the handler returns it with a batch of output. So a handler never overlaps itself, on any thread,
/// and nothing here needs a lock or a reference count.
///
/// An event that the fast path does not handle calls run_steps(): next_step() decides, perform() acts. The work item is
/// the baton; connection_handoff has its steps. The phases' diagram is in connection_flags.hpp.
class connection_core : public session_interface, public loop_member, public work_item {
 public:
  static constexpr auto of_loop = &connection_loop_flags::phase;
  static constexpr auto of_baton = &connection_baton_flags::core;

  // ---- For sessions ----

  /// [loop] Opens: takes ownership of the stream, watches it, and calls run_open() where the model says. On an error
  /// nothing has begun: the caller keeps the stream and the session, and reports the error. No callback will do so.
  [[nodiscard]] error_code open(stream_handle&& stream, enabled_callbacks enabled) noexcept;
  /// [loop] After the end: return the reason, and whether this side closed before the peer had finished sending.
  [[nodiscard]] error_code reason() const noexcept;
  [[nodiscard]] bool closed_here() const noexcept { return closed_here_; }
  /// Returns the error for send notices; never none, which would mean "sent".
  [[nodiscard]] error_code why_not_sent() const noexcept { return reason() ? reason() : errc::end_of_stream; }
  /// [loop] Takes the baton for a batch that can run at once: nearly every batch where handlers run on the loop. On
  /// true, the caller runs the handler, then fast_path_done(). On false, it calls on_received().
  // Inlined by force, as g++ does not: a batch takes 28 instructions less of 159 (benchmarks/budget/check).
  [[nodiscard, gnu::always_inline]] bool try_fast_path(bytes arrived) noexcept {
    if (!is_idle()) [[unlikely]]
      return false;
    begin_fast_path(arrived.size());
    return true;
  }
  /// [loop] Takes the baton without a question.
  [[gnu::always_inline]] void begin_fast_path(std::size_t arrived) noexcept {
    event_loop& loop = loop_;  // loaded once
    loop.counters().received(arrived);
    loop.counters().batches.add();
    silence_.end();
    connection_handoff::begin_fast(*this);
    output_.prepare(*this, loop);
  }
  /// [loop] Returns the baton. `but_for`: the flags of a session for which they do not matter, and baton_out.
  [[gnu::always_inline]] void fast_path_done(bytes arrived, std::size_t used,
                                             handoff_loop_flags but_for = {}) noexcept {
    guard_.leave();
    but_for.baton_out = true;
    if (used < arrived.size() || !is_idle(but_for)) [[unlikely]]
      return leave_fast_path(arrived, used);
    event_loop& loop = loop_;
    connection_handoff::end_fast(*this);
    output_.send_piece(*this, loop, [this](engine::send_result sent) noexcept { keep_sending(sent); });
    if (is_timed_) active_at_ = loop.now();
  }
  /// [loop] The halves of on_received(), for input that does not use the fast path: records arrived bytes and returns
  /// whether they are still taken; delivers input, or keeps it until the handler can have it.
  [[nodiscard]] bool accepts(std::size_t arrived) noexcept;
  void take_in(bytes arrived) noexcept;
  /// [baton] After run_close(): schedules destruction. connection_handoff calls it unless the session keeps the baton.
  void close_is_done() noexcept;
  /// [loop] A coroutine keeps the baton of the fast path: it awaits something else than input.
  void keep_baton(std::size_t arrived) noexcept;
  /// [baton, loop] Returns all input, unread and pending. Without memory the connection ends.
  bytes take_input() noexcept {
    if (loop_flags().input.has_pending) [[unlikely]]
      fail_if(input_.absorb_pending(*this));
    return input_.peek();
  }

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
  /// Another object has the connection from now on.
  void end_without_close() noexcept;
  /// Ends it at once for a reason that outlives its requests.
  void fail_for_good(cancel_reason why) noexcept;
  /// Notes what the handler can ask for. If it cancels, cancels what a coroutine awaits.
  void tell(cancel_reason what) noexcept;
  /// A coroutine that waits for room goes on in this turn or the next.
  void wake_writer() noexcept;
  /// Cancels the request that the handler works on, if any.
  void cancel_request() noexcept;
  /// A batch off the fast path has answered all input, and no clock ran before it.
  void rest() noexcept;
  void throttle(int change) noexcept;
  /// Starts draining: input that has arrived by now is still answered.
  void drain() noexcept;
  /// Puts into force what the handler asked for in its batch, and sends its output.
  void end_batch() noexcept;
  /// Puts the current limits into force. Returns false without memory.
  [[nodiscard]] bool use_limits() noexcept;
  void expired() noexcept final;
  void turn_ends() noexcept final;
  void continue_writing() noexcept final;
  /// Performs steps until none is left. A nested call returns at once.
  void run_steps() noexcept;
  /// [loop, baton] Takes over the connection of another object, on that object's loop. Nobody uses this one yet.
  void take_from(connection_core& from) noexcept;
  [[nodiscard]] connection& as_connection() noexcept;
  using work_item::become, work_item::may_go_unmeasured, work_item::note_cost, work_item::set_facts;

 private:
  // These lie in the padding behind the work item.
  bool stays_half_open_ : 1 = false;  // loop: on_read_eof was dispatched, and the handler will close
  bool is_stepping_ : 1 = false;      // loop: run_steps() is on the stack
  bool closed_here_ : 1 = false;
  bool drain_begun_ : 1 = false;  // loop: drain() was called, also if the connection has ended since
  int reason_ = 0;                // loop: of the end, or why send_failed or was_reset is set

 public:
  connection_output output_;
  connection_input input_;

 protected:
  /// `migrated`: takes over from another object, see connection_migration.
  connection_core(event_loop& loop, connection_host& host, handoff_constants constants, bool migrated);
  ~connection_core();

  void on_received(bytes arrived) noexcept override;
  void on_receive_end(error_code reason) noexcept override;
  std::span<char> receive_space() noexcept override;
  void note_received(std::size_t count) noexcept {
    loop_.counters().received(count);
    silence_.end();
  }
  [[nodiscard]] core_baton_flags& own_flags() noexcept { return baton_flags(key()); }
  /// The baton is back: its holder learns that a drain began meanwhile.
  void tell_of_drain() noexcept { own_flags().draining |= drain_begun_; }

 private:
  using key = part_key<connection_core>;

  // Events of the engine and the loop.
  void on_received_in_place(std::size_t count) noexcept override;
  void on_received_nothing() noexcept override;
  void on_sendable() noexcept override;
  void on_send_failed(error_code reason) noexcept override;
  void on_peer_finished() noexcept override;
  [[nodiscard]] duration longest_send() const noexcept override;
  void abort() noexcept override;

  void keep_sending(engine::send_result sent) noexcept;
  void leave_fast_path(bytes arrived, std::size_t used) noexcept;
  void expire(error_code why) noexcept;
  [[nodiscard]] error_code reason_of_end(const error_code& told) const noexcept;
  void apply_changes() noexcept;
  void stop_sending(error_code why) noexcept;
  // connection_core_steps.cpp
  [[nodiscard]] connection_facts facts() const noexcept;
  void perform(step next) noexcept;
  void perform_on_input(step next) noexcept;
  void begin_to_linger() noexcept;
  void after_steps() noexcept;

  const boost::system::error_category* reason_category_ = &boost::system::system_category();  // loop: of reason_
};

}  // namespace quintet::detail
