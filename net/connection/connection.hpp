// SPDX-License-Identifier: BSL-1.0
// connection: a byte stream on a loop, and the baton that says who may touch its data.
#pragma once

#include "../../base/memory/buffer_cache.hpp"
#include "../../base/memory/byte_chain.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../watch/activity.hpp"
#include "connection_data.hpp"
#include "connection_host.hpp"
#include "connection_state.hpp"
#include "cork_guard.hpp"
#include "lane.hpp"
#include "send_notices.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace quintet {

/// The loop owns the socket side: the handle, what is being sent, what has been read ahead. Whoever holds the baton
/// owns the data side: unread input, the output being built, the handler's members. There is one baton; the loop gives
/// it to the handler with a batch of input and gets it back with a batch of output. So a handler never overlaps
/// itself, on whatever thread it runs, and nothing here needs a lock.
///
/// `[baton]` below means: from inside this connection's handler (or coroutine).
class connection : private stream_channel, private loop_member, private detail::connection_data {
 public:
  /// [baton] Adds to the batch's output, by copying; all of a batch leaves in one send. False when it was not taken:
  /// after shutdown_send(), when full under when_full::error, or because more than `max_output` would wait, which ends
  /// the connection (errc::output_overflow). True, too, of what when_full::drop drops and counts.
  bool write(bytes data) {
    if (!held().checks_writes && output_.try_append_here(data)) [[likely]]
      return true;
    return write_more(data);
  }
  /// [baton] The same for bytes in several pieces, of which all are taken, one behind the other, or none.
  bool write(std::span<const bytes> pieces);
  /// [baton] The same for bytes that somebody owns: those of at least `large_write` bytes are not copied but kept until
  /// they have left.
  bool write(shared_bytes data);
  /// [baton] The same of a string that is handed over, `c.write(std::move(text))`, and gone also when not taken.
  template <std::same_as<std::string> S>
  bool write(S&& data) {
    if (data.size() < large_write) return write(bytes(data));
    return write(std::make_shared<const std::string>(std::forward<S>(data)));
  }
  static constexpr std::size_t large_write = 4 * 1024;  ///< what is smaller costs less to copy than to send as a piece
  /// [baton] Sends what was written so far, without waiting for the end of the batch, if the handler runs on the
  /// loop's own thread; elsewhere it leaves when the batch ends.
  void flush();
  /// [baton] `auto together = c.cork();`: until the end of the last of these guards, flush() does nothing and a batch
  /// that writes much does not begin to send; then what was written leaves as by flush(). The end of the batch, or a
  /// coroutine's wait in a read or in until_writable(), sends all the same.
  cork_guard cork();
  /// [baton] Calls f(error_code) once: when the kernel has taken all that was written before, or with the reason when
  /// the connection has ended before that (errc::end_of_stream if there is no other). On the loop's thread, after the
  /// handler has returned or while it waits, in the order of asking, without the baton; at the latest before on_close
  /// or, asked for in on_close, after it. Whether the peer has received anything only its answer can tell. What f
  /// throws is counted in `handler_errors`, and nothing else happens. Allocates one node.
  template <std::invocable<error_code> F>
  void when_sent(F f) {
    check_held();
    add_notice(std::make_unique<send_notice_of<F>>(std::move(f)));
  }
  /// [baton] Whether less output waits than `high_watermark`; for a handler with on_writable also whether this batch
  /// may write more of what a turn of the loop has for all. One who produces much writes while this is true, and goes
  /// on in on_writable (a coroutine: after `co_await s.until_writable()`), which comes once after it was false, when
  /// the output is down to the low watermark and others have had their share. No more input is looked at before that.
  [[nodiscard]] bool writable() noexcept {
    check_held();
    if (told_.writable ? !is_full() : !is_above_watermark()) return true;
    if (is_on_loop() && !baton_.wants_writable) loop_.count_written(output_.size());
    baton_.wants_writable |= told_.writable;
    return false;
  }
  /// [baton] Closes when everything written has left. Input that still arrives is discarded.
  void close() noexcept { held().close_wanted = true; }
  /// [baton] The same because of an error, which on_close and the log are told; without memory they are told that.
  void close(error_code why) noexcept {
    held().close_wanted = baton_.has_reason = true;
    if (make_baton_extras()) baton_extras_->close_reason = why;
  }
  /// [baton] Whether close() was called.
  [[nodiscard]] bool closing() const noexcept { return held().close_wanted; }
  /// [baton] Half-close: when everything written has left, the peer is told that nothing more will come. Input goes on.
  void shutdown_send() noexcept { held().shutdown_wanted = baton_.checks_writes = true; }
  /// [baton] From the end of this batch on, no more input is looked at, and none is taken from the kernel; until
  /// resume_reading(), which connection_registry::post() can bring.
  void pause_reading() noexcept { held().pause_wanted = true; }
  void resume_reading() noexcept { held().pause_wanted = false; }
  /// [baton] What this batch leaves unused is of no use before it is `size` bytes long: the handler is not called
  /// before that is there. What is above `max_input` ends the connection. Without memory it is called all the same.
  void expect_input(std::size_t size) noexcept {
    const std::size_t most = limits().max_input;
    baton_.expects = make_baton_extras();
    if (baton_.expects) baton_extras_->expected = size > most ? most + 1 : size;
  }
  /// [baton] This batch has used input of a message that has not ended: the clock of `message_timeout` runs on although
  /// no input is left unused. `anew`: the message began in this batch, after the end of another one.
  void mark_incomplete(bool anew = false) noexcept {
    if (!held().timed) return;
    incomplete_ = true;
    begun_anew_ = anew;
  }
  /// [baton] The handler keeps so many bytes of input itself; for `max_input_total` they count as unused.
  void count_kept_input(std::size_t size) noexcept;
  /// [baton] What applies now: the server's, or this connection's own.
  [[nodiscard]] const connection_limits& limits() const noexcept {
    check_held();
    return applied_limits();
  }
  /// [baton] Limits of this connection alone, from the end of this batch on. Throws config_error.
  void set_limits(const connection_limits& limits);
  /// [baton] While the output of this connection is above its high watermark, `source` is not read from: for a
  /// connection whose output is another one's input. Both have the same registry. From the end of this batch on.
  void feed_from(connection_id source);

  /// [any thread] Names this connection as long as it lives, and nothing afterwards.
  [[nodiscard]] connection_id id() const noexcept { return id_; }
  /// [any thread] Of all connections of the same server.
  [[nodiscard]] connection_registry& registry() const noexcept { return host_.registry; }
  /// [any thread]
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  /// [any thread] For Asio clients on this connection's loop; include <quintet/net/executor.hpp> for the type.
  [[nodiscard]] loop_executor get_executor() const;
  /// [baton] `127.0.0.1:80`, `[::1]:80`; empty once the connection has failed.
  [[nodiscard]] std::string peer_address() const;
  /// [baton] From the end of this batch on, or as soon as what was written has left, it is one of the server's priority
  /// lane: on that loop and thread, and never on a pool. Its handler, its input and its id go with it; the object is
  /// another one there, so keep ids and no references. False, and nothing happens: there is no lane, it is there
  /// already, is a coroutine's or its handler cannot be moved without throwing, or the engine is not epoll or model
  /// 1's, or has descriptors of its own. When the lane is full it stays where it is.
  bool promote();
  /// [baton] The same to another one of server::loops(), from one of these. Any thread can ask for it through the
  /// registry's post().
  bool move_to(event_loop& to);
  /// [baton] The server is draining: what has been received is still to be answered, nothing more will come.
  [[nodiscard]] bool draining() const noexcept { return held().drain_begun; }

 protected:
  /// `keeps_baton`: a batch is run by somebody who holds on to the baton afterwards (a coroutine), so that the input
  /// must be the connection's own. `runs_here`: dispatch() would always run a batch here and now. `successor`: it takes
  /// over from another one, see make_successor().
  connection(event_loop& loop, connection_host& host, bool keeps_baton, bool runs_here, bool successor = false);
  ~connection();

  using connection_data::guard_;
  using connection_data::wishes;
  /// [loop] Asks the thread model to run the item. Implemented by a session. With `runs_here` batches do not ask.
  virtual void dispatch(work_item& item) noexcept = 0;
  /// [loop] Begins: watches the handle, which it owns from now on, and calls run_open() where the model says.
  void open(int handle, wishes told) noexcept;
  [[nodiscard]] bool failed() const noexcept { return state_.failing; }
  /// [loop] Of one that is over: why, and whether it was closed at this end, by the handler or through the registry,
  /// before the peer had finished.
  [[nodiscard]] error_code reason() const noexcept { return {silence_or_reason_.reason, *reason_category_}; }
  [[nodiscard]] bool closed_here() const noexcept {
    return silence_or_reason_.reason == 0 && (state_.lingering || !state_.receive_ended);
  }

  // For coroutines, which keep the baton across suspensions. [baton], on the loop's thread.
  /// All input that is there now: what was unused and what has arrived. Valid until used(), or the baton is given back.
  bytes take_input();
  void used(std::size_t count) noexcept {
    input_buffer_.consume(count);
    baton_.has_input = !input_buffer_.empty();
  }
  using connection_data::at_end, connection_data::nothing_will_arrive, connection_data::needs_return;
  using connection_data::has_input, connection_data::has_unseen_, connection_data::got_on_, connection_data::has_got_on;
  void give_back() noexcept;
  [[nodiscard]] bool is_full() const noexcept {
    return baton_.had_its_share || output_.size() > event_loop::turn_share || is_above_watermark() ||
           (is_on_loop() && !loop_.shares_left());
  }
  /// [baton] After give_back(): run_writable() comes before anything else does, but for the end.
  void ask_for_writable() noexcept { baton_.wants_writable = true; }
  /// [baton] The handler has failed: once the baton is back the connection closes, without sending what is left.
  void fail_handler() noexcept { baton_.handler_failed = true; }
  /// [baton] In a catch block: tells the log what the handler has let out.
  void report_exception() const noexcept;
  /// [loop] A batch that can be run here and now, with nothing else to think about: nearly each where handlers run on
  /// the loop. The caller has the baton then, and calls short_way_home() after the handler. False: it calls receive().
  [[nodiscard]] bool takes_short_way(bytes arrived) noexcept {
    note_received(arrived.size());
    if (!is_calm()) [[unlikely]]
      return false;
    loop_.counters().batches.add();
    state_.baton_out = true;
    guard_.enter();
    loop_.chunks().try_equip(output_);
    if (!output_.equipped()) [[unlikely]]
      baton_.checks_writes = true;
    return true;
  }
  void receive(bytes arrived) noexcept;
  void short_way_home(bytes arrived, std::size_t used) noexcept {
    guard_.leave();
    if (used < arrived.size()) [[unlikely]]
      keep(arrived.substr(used));
    if (!state_.only_baton_out() || !baton_.none()) [[unlikely]]
      return finish_return();
    state_.baton_out = false;
    send_piece();
  }
  /// [baton] Calls f: what the handler lets out ends its connection, and nothing else.
  template <class F>
  void guarded(F f) noexcept try {
    f();
  } catch (...) {
    report_exception();
    fail_handler();
  }
  /// [baton] Whether the handler may be given to a successor.
  void allow_moves() noexcept { can_move_ = true; }
  static constexpr std::size_t most_to_classify = 4096;  ///< bytes; then it is an ordinary connection
  /// [baton] While it lives, the watchdog, if there is one, knows what this thread has called.
  [[nodiscard]] activity::scope calling(callback what, const std::type_info* type = nullptr) const noexcept;
  /// [baton] After run_close(): the connection may go. Called by process_close itself unless the baton was kept.
  void close_is_done() noexcept;

 private:
  friend class connection_registry;
  friend class connection_message;
  friend class cork_guard;
  using connection_data::handle_;  // and not the channel's
  friend turn_end;
  friend loop_extras;

  // A session implements these. A run_ function returns with the baton still held. destroy() is the last call, on the
  // loop.
  virtual void run_open() = 0;
  virtual std::size_t run_batch(bytes input) = 0;
  virtual std::size_t run_overload(bytes) { return 0; }
  virtual bytes run_sift(bytes arrived, bool, detail::urgent_findings&) { return arrived; }
  virtual lane run_classify(bytes) { return lane::ordinary; }
  virtual void run_writable() = 0;
  virtual void run_read_eof() {}
  virtual void run_drain() {}
  virtual void run_close(error_code why) noexcept = 0;
  virtual void destroy() noexcept = 0;
  // For a connection that moves. On the old loop, with the baton: another one for that loop, with the handler; touches
  // nothing of its loop before arrive(). Nothing when that cannot be had now.
  virtual connection* make_successor(event_loop&) noexcept { return nullptr; }
  virtual void discard() noexcept {}  // [loop] the last call for one that has a successor
  [[nodiscard]] virtual const std::type_info& handler_type() const noexcept = 0;
  /// [loop] The loop stops while the baton is out: what the holder waits for should be cancelled.
  virtual void interrupt() noexcept {}

  // connection_baton.cpp and connection_batch.cpp: the handoff steps.
  static void process_open(work_item& item) noexcept;
  static void process_batch(work_item& item) noexcept;
  static void process_messages(work_item& item) noexcept;
  static void process_writable(work_item& item) noexcept;
  static void process_read_eof(work_item& item) noexcept;
  static void process_drain(work_item& item) noexcept;
  static void process_close(work_item& item) noexcept;
  static void process_lost_batch(work_item& item) noexcept;
  static void on_handoff(work_item& item) noexcept;
  static void on_returned(work_item& item) noexcept;
  static void destroy_deferred(work_item& item) noexcept;
  static connection& of(work_item& item) noexcept { return static_cast<connection&>(item); }
  static connection& with_baton(work_item& item) noexcept {
    of(item).guard_.enter();
    return of(item);
  }
  void leave() noexcept;
  void stand_still() noexcept;
  void gauge_writes() noexcept;
  void send_out(work_item::function step, work_facts about = {}) noexcept;
  /// [baton] Whether the handler runs on the loop's thread, this time or always.
  [[nodiscard]] bool is_on_loop() const noexcept { return runs_here_ || loop_.in_this_thread(); }
  void deliver() noexcept;
  void note_batch_cost(duration took) noexcept;
  void append_input(bytes more);
  void call_guarded(callback what, void (connection::*run)()) noexcept;
  void run_guarded_batch() noexcept;
  void run_watched_batch() noexcept;
  void use_input(bytes input, std::size_t count);
  void keep(bytes unused) noexcept;
  void finish_return() noexcept;
  void end_of_batch() noexcept;

  // Another loop (connection_moving.cpp).
  bool classify() noexcept;
  void end_classifying() noexcept;
  bool ask_to_move(event_loop& to);
  [[nodiscard]] bool may_move() const noexcept;
  void move_on() noexcept;
  void inherit(connection& from) noexcept;
  static void arrive(work_item& item) noexcept;
  static void destroy_predecessor(work_item& item) noexcept;

  // The loop's side (connection.cpp): input and ends.
  void on_received(bytes arrived) noexcept override;
  void on_receive_end(error_code reason) noexcept override;
  void take_in(bytes arrived) noexcept;
  bytes sift(bytes arrived, bool at_end) noexcept;
  std::span<char> receive_space() noexcept override;
  void on_received_in_place(std::size_t count) noexcept override;
  void on_sendable() noexcept override;
  void abort() noexcept override;
  void update_reading() noexcept { set_reading(wants_reading(baton_.pause_wanted)); }
  [[nodiscard]] bool wants_reading(bool pauses) const noexcept;
  void set_reading(bool on) noexcept;
  void charge_input() noexcept;
  void fail(error_code why) noexcept;
  void out_of_memory() noexcept;
  void begin_to_close() noexcept;
  // What comes next (connection_steps.cpp).
  void settle() noexcept;
  [[nodiscard]] detail::connection_facts facts() const noexcept;
  void perform(detail::step next) noexcept;
  void rest() noexcept;
  void deliver_unseen() noexcept;
  void begin_to_linger() noexcept;
  void note_long_send(connection_deadlines& d) noexcept;

  // Messages, changed settings and time limits (connection_control.cpp).
  settings& changed_settings();
  void adopt_settings() noexcept;
  void use_limits() noexcept;
  void take(std::unique_ptr<connection_message> message) noexcept;
  void sort_messages() noexcept;
  static void drop_messages(work_fifo& from) noexcept;
  void close_from_outside() noexcept;
  void abort_from_outside() noexcept;
  void hold_reading(int change) noexcept;
  void drain() noexcept;
  void expired() noexcept;
  void watch_time() noexcept;
  void end_if_silent(std::uint32_t looks) noexcept;

  // Output (connection_output.cpp).
  enum class admission : std::uint8_t { taken, dropped, refused };
  [[nodiscard]] bool takes_bytes_now() const noexcept { return !state_.mid_message && !state_.has_messages; }
  bool write_more(bytes data);
  void append_output(bytes data);
  void has_written();
  void uncork(bool sends);
  void send_from_outside(const shared_bytes& data) noexcept;
  [[nodiscard]] bool takes_from_outside() const noexcept;
  void send_beside(bytes data, const shared_bytes* whole, bool merges) noexcept;
  void turn_ends() noexcept;
  void write_on() noexcept;
  void wait_for_turn_end() noexcept;
  void send_output() noexcept;
  /// Nothing waits, and what has been written lies in one piece.
  void send_piece() noexcept {
    const bytes all = output_.front();
    if (!all.empty()) [[likely]] {
      const engine::send_result sent = loop_.io().send(*this, all);
      if (sent.bytes < all.size()) [[unlikely]]
        return keep_sending(sent);
      loop_.counters().sent(all.size());
    }
    loop_.chunks().take_back_piece(output_);
  }
  void keep_sending(engine::send_result sent) noexcept;
  void send_waiting() noexcept;
  bool send_now(counter& reason);
  /// Why a batch's output leaves at its end is not counted: that is the rule.
  template <class F>
  void count_sends(counter& reason, F send) noexcept {
    const std::uint64_t before = loop_.counters().sends.value();
    send();
    reason.add(loop_.counters().sends.value() - before);
  }
  void join_sending(bool kernel_is_full) noexcept;
  bool send_some(byte_chain& from) noexcept;
  std::size_t offer(bytes data) noexcept;
  std::size_t offer(output_pieces pieces) noexcept;
  void note_sending() noexcept { state_.sending = !sending_.empty(); }
  std::size_t gone(engine::send_result sent) noexcept;
  admission ask(std::size_t count);
  admission admit(std::size_t count);
  void output_waits() noexcept;
  void watch_watermarks() noexcept;
  void tell_above(bool above) noexcept;
  void tell_source(bool hold) noexcept;

  // connection_notices.cpp: who is told that output was sent.
  void add_notice(std::unique_ptr<send_notice> notice);
  void adopt_notices() noexcept;
  void note_taken(std::size_t count) noexcept;
  void tell_at_turn_end() noexcept;
  void tell_notices() noexcept;
  void tell_all_notices() noexcept;
  [[nodiscard]] error_code why_not_sent() const noexcept;
  bool have_extras() noexcept;
  bool make_baton_extras() noexcept;
  bool have_baton_extras() noexcept;
  baton_extras& extras_of_baton();
};

}  // namespace quintet
