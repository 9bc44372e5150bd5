// SPDX-License-Identifier: BSL-1.0
// connection: a byte stream on a loop, and the baton that says who may touch its data.
#pragma once

#include <quintet/base/buffer_cache.hpp>
#include <quintet/base/byte_chain.hpp>
#include <quintet/base/timer_queue.hpp>
#include <quintet/base/work_item.hpp>
#include <quintet/net/connection_deadlines.hpp>
#include <quintet/net/connection_host.hpp>
#include <quintet/net/event_loop.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace quintet {

/// The loop owns the socket side: the handle, what is being sent, what has been read ahead. Whoever holds the baton
/// owns the data side: unread input, the output being built, the handler's members. There is one baton; the loop gives
/// it to the handler with a batch of input and gets it back with a batch of output. So a handler never overlaps
/// itself, on whatever thread it runs, and nothing here needs a lock.
///
/// `[baton]` below means: from inside this connection's handler (or coroutine).
class connection : private work_item, private loop_member, private stream_channel, private timer {
 public:
  /// [baton] Adds to the batch's output, by copying. Everything written in a batch leaves in one send. False when it
  /// was not taken: after shutdown_send(), or when the output is full under when_full::error. More waiting output than
  /// `max_output` ends the connection (errc::output_overflow).
  bool write(bytes data);
  /// [baton] Sends what was written so far, without waiting for the end of the batch, if the handler runs on the
  /// loop's own thread; elsewhere it leaves when the batch ends.
  void flush();
  /// [baton] Whether less output waits than `high_watermark`. One who produces much writes while this is true, and goes
  /// on in on_writable (a coroutine: after `co_await s.until_writable()`), which comes once after it was false, when
  /// the output is down to the low watermark. No more input is looked at before that.
  [[nodiscard]] bool writable() noexcept {
    if (!is_full()) return true;
    wants_writable_ |= told_.writable;
    return false;
  }
  /// [baton] Closes when everything written has left. Input that still arrives is discarded.
  void close() noexcept { close_wanted_ = true; }
  /// [baton] Half-close: when everything written has left, the peer is told that nothing more will come. Input goes on.
  void shutdown_send() noexcept {
    shutdown_wanted_ = true;
    gate_ = 0;
  }
  /// [baton] From the end of this batch on, no more input is looked at, and none is taken from the kernel; until
  /// resume_reading(), which connection_registry::post() can bring.
  void pause_reading() noexcept { pause_wanted_ = true; }
  void resume_reading() noexcept { pause_wanted_ = false; }
  /// [baton] What applies now: the server's, or this connection's own.
  [[nodiscard]] const connection_limits& limits() const noexcept { return own_ ? own_->limits : host_.limits; }
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
  /// [baton] The server is draining: what has been received is still to be answered, nothing more will come.
  [[nodiscard]] bool draining() const noexcept { return drain_begun_; }

 protected:
  /// `keeps_baton`: a batch is run by somebody who holds on to the baton afterwards (a coroutine), so that the input
  /// must be the connection's own.
  connection(event_loop& loop, connection_host& host, bool keeps_baton);
  ~connection();

  /// What a handler wants to be told besides input and the end.
  struct wishes {
    bool open = false, read_eof = false, drain = false, writable = false;
  };
  /// [loop] Begins: watches the handle, which it owns from now on, and calls run_open() where the model says.
  void open(int handle, wishes told) noexcept;
  [[nodiscard]] bool failed() const noexcept { return failing_; }
  /// [loop] Of one that is over: why, and whether it was closed at this end, by the handler or through the registry,
  /// before the peer had finished.
  [[nodiscard]] error_code reason() const noexcept { return reason_; }
  [[nodiscard]] bool closed_here() const noexcept { return !reason_ && (lingering_ || !receive_ended_); }

  // For coroutines, which keep the baton across suspensions. [baton], on the loop's thread.
  /// All input that is there now: what was unused and what has arrived. Valid until used(), or the baton is given back.
  bytes take_input();
  void used(std::size_t count) noexcept { input_buffer_.consume(count); }
  [[nodiscard]] bool has_news() const noexcept { return !ahead_.empty() || at_end(); }
  [[nodiscard]] bool at_end() const noexcept {
    return failing_ || ((receive_ended_ || drained_) && ahead_.empty() && input_buffer_.empty());
  }
  void give_back() noexcept;
  [[nodiscard]] bool is_full() const noexcept { return output_.size() + waiting_now() > limits().high_watermark; }
  /// [baton] After give_back(): run_writable() comes before anything else does, but for the end.
  void ask_for_writable() noexcept { wants_writable_ = true; }
  /// [baton] The handler has failed: once the baton is back the connection closes, without sending what is left.
  void fail_handler() noexcept { handler_failed_ = true; }
  /// [baton] In a catch block: tells the log what the handler has let out.
  void report_exception() const noexcept;
  /// [baton] After run_close(): the connection may go. Called by process_close itself unless the baton was kept.
  void close_is_done() noexcept;

 private:
  friend class connection_registry;
  friend class connection_message;

  // What a session does with the baton. dispatch() asks the thread model to run the item, here or elsewhere; the
  // run_ functions are what it runs, and return with the baton still held. destroy() is the last call, on the loop.
  virtual void dispatch(work_item& item) noexcept = 0;
  virtual void run_open() = 0;
  virtual std::size_t run_batch(bytes input) = 0;
  virtual void run_writable() = 0;
  virtual void run_read_eof() {}
  virtual void run_drain() {}
  virtual void run_close(error_code why) noexcept = 0;
  virtual void destroy() noexcept = 0;
  /// [loop] The loop stops while the baton is out: what the holder waits for should be cancelled.
  virtual void interrupt() noexcept {}

  // The baton's stations (connection_baton.cpp).
  static void process_open(work_item& item) noexcept;
  static void process_batch(work_item& item) noexcept;
  static void process_messages(work_item& item) noexcept;
  static void process_writable(work_item& item) noexcept;
  static void process_read_eof(work_item& item) noexcept;
  static void process_drain(work_item& item) noexcept;
  static void process_close(work_item& item) noexcept;
  static void prepare_to_travel(work_item& item) noexcept;
  static void come_home(work_item& item) noexcept;
  static void bury(work_item& item) noexcept;
  static connection& of(work_item& item) noexcept { return static_cast<connection&>(item); }
  template <class F>
  void guarded(F f) noexcept;
  void send_out(work_item::function station) noexcept;
  void deliver() noexcept;
  void own_input();
  void use_input(std::size_t count);
  void end_of_batch() noexcept;

  // The loop's side (connection.cpp): input, ends, and what comes next.
  void on_received(bytes arrived) noexcept override;
  void on_receive_end(error_code reason) noexcept override;
  void on_sendable() noexcept override;
  void abort() noexcept override;
  void settle() noexcept;
  void settle_end() noexcept;
  void update_reading() noexcept;
  void set_reading(bool on) noexcept;
  void finish_drain() noexcept;
  void begin_to_linger() noexcept;
  void fail(error_code why) noexcept;
  void report_limit() const noexcept;
  void out_of_memory() noexcept;
  void begin_to_close() noexcept;

  // Messages, changed settings and time limits (connection_control.cpp).
  struct settings {
    connection_limits limits;
    connection_id source;
  };
  settings& changed_settings();
  void adopt_settings() noexcept;
  void use_limits() noexcept;
  void take(std::unique_ptr<connection_message> message) noexcept;
  void sort_messages() noexcept;
  static void drop_messages(work_fifo& from) noexcept;
  void close_from_outside() noexcept;
  void hold_reading(int change) noexcept;
  void drain() noexcept;
  void expired() noexcept override;
  void watch_time() noexcept;

  // Output (connection_output.cpp).
  enum class admission : std::uint8_t { taken, dropped, refused };
  [[nodiscard]] bool takes_bytes_now() const noexcept { return !mid_message_; }
  void append_output(bytes data);
  void send_from_outside(const shared_bytes& data) noexcept;
  void turn_ends() noexcept;
  void wait_for_turn_end() noexcept;
  void send_output() noexcept;
  void send_waiting() noexcept;
  bool send_now();
  bool send_some(byte_chain& from) noexcept;
  bool send_pieces(byte_chain& from) noexcept;
  std::size_t offer(bytes data) noexcept;
  std::size_t offer(output_pieces pieces) noexcept;
  admission admit(std::size_t count) noexcept;
  [[nodiscard]] std::size_t waiting_now() const noexcept { return loop_.in_this_thread() ? sending_.size() : waiting_; }
  void output_waits() noexcept;
  void watch_watermarks() noexcept;
  void tell_source(bool hold) noexcept;
  [[nodiscard]] bool is_stuck() const noexcept { return above_watermark_ && limits().full == when_full::pause; }
  [[nodiscard]] bool holds_input() const noexcept {
    return wants_writable_ || is_stuck() || pause_wanted_ || holds_ > 0;
  }

  /// What waits for the end of the loop's turn: sending what several messages have brought, and a handler that wants to
  /// write on, so that the others have theirs in between.
  struct turn_end final : work_item {
    explicit turn_end(connection& c) noexcept : work_item(&turn_end::run), of(c) {}
    static void run(work_item& item) noexcept { static_cast<turn_end&>(item).of.turn_ends(); }
    connection& of;
    bool due = false;
  };

  event_loop& loop_;
  connection_host& host_;
  connection_id id_;
  int handle_ = -1;                 // open until the baton is at home for the last time
  int holds_ = 0;                   // loop: connections that this one feeds and whose output is full
  bytes input_;                     // baton: the batch: borrowed from the engine, or the contents of input_buffer_
  cached_buffer input_buffer_;      // baton: input that is unused
  cached_buffer ahead_;             // loop: arrived while the baton was out
  byte_chain output_;               // baton: written by the handler
  byte_chain sending_;              // loop: on its way to the kernel
  std::size_t output_charged_ = 0;  // baton: how much of output_ the server's budget knows of
  std::size_t charged_ = 0;         // loop: and of sending_
  std::size_t waiting_ = 0;         // baton: sending_.size() when the baton left
  std::size_t gate_ = 0;            // baton: output above which admit() has to be asked
  std::size_t drain_left_ = 0;      // loop: received by the kernel when draining began, and not by us yet
  std::unique_ptr<settings> own_, changed_;          // loop, which the baton may read; baton
  std::unique_ptr<connection_deadlines> deadlines_;  // loop
  work_fifo messages_, calls_;                       // loop; baton
  turn_end turn_end_{*this};                         // loop
  error_code reason_;
  unsigned dropped_ = 0;  // baton: writes that when_full::drop has dropped in this batch
  const bool keeps_baton_;
  bool input_is_borrowed_ = false;
  bool begun_ = false;  // the handler knows of it, and will be told of its end
  wishes told_;         // each is cleared when it has been fulfilled
  bool baton_out_ = false;
  bool reading_ = true;
  bool close_wanted_ = false;     // baton
  bool shutdown_wanted_ = false;  // baton
  bool pause_wanted_ = false;     // baton
  bool wants_writable_ = false;   // baton: run_writable() is to come before more input
  bool handler_failed_ = false;   // baton
  bool overflowed_ = false;       // baton: more was written than max_output
  bool got_on_ = false;           // baton: input was used, or something was written
  bool close_asked_ = false;      // loop: close() from outside, while the baton was out
  bool mid_message_ = false;      // loop: a part of what the handler is writing has left, and the rest has not
  bool above_watermark_ = false;  // loop
  bool shut_ = false;             // loop: the peer has been told that nothing more comes
  bool receive_ended_ = false;
  bool stays_half_open_ = false;  // the handler was told of the end of input, and will close
  bool drain_begun_ = false;      // written by the loop while the baton is at home
  bool drain_asked_ = false;      // loop
  bool drained_ = false;          // everything that had been received then has been
  bool lingering_ = false;        // everything is sent and the peer knows; waiting for it to read and close
  bool failing_ = false;          // it is over: on_close is due, or under way
};

}  // namespace quintet
