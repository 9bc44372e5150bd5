// SPDX-License-Identifier: BSL-1.0
// connection_output: a connection's output: what the handler is writing, and what waits for the kernel.
#pragma once

#include "../../base/memory/byte_chain.hpp"
#include "../engine/system_call.hpp"
#include "../watch/type_text.hpp"
#include "connection_context.hpp"

#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quintet {

/// One function, behind connection::when_sent().
class send_notice : public boost::intrusive::list_base_hook<> {
 public:
  virtual ~send_notice() = default;

 private:
  friend class send_notices;
  virtual void call(error_code why) = 0;
  [[nodiscard]] virtual const char* type() const noexcept = 0;  // type of the function
  std::uint64_t position_ = 0;                                  // number of bytes that must be sent first
};

template <class F>
class send_notice_of final : public send_notice {
 public:
  explicit send_notice_of(F f) : function_(std::move(f)) {}

 private:
  void call(error_code why) override { function_(why); }
  [[nodiscard]] const char* type() const noexcept override { return detail::type_text<F>(); }
  F function_;
};

}  // namespace quintet

namespace quintet::detail {

/// Two chains of bytes. The holder of the baton appends to the builder; the loop sends the queue. Bytes in the queue
/// leave before bytes in the builder. After the baton's return, the builder is sent or joins the queue. The server's
/// budget counts the queue, and a builder that has grown above the high watermark.
///
/// A function that can find the connection broken returns the reason. The caller then ends the connection.
class connection_output {
 public:
  using context = connection_context;
  static constexpr auto of_loop = &connection_loop_flags::output;
  static constexpr auto of_baton = &connection_baton_flags::output;

  // ---- The builder [baton] ----

  /// Appends if the current chunk has room. The caller ensures that there is a chunk (else checks_writes is set).
  bool try_append(bytes data) noexcept { return builder_.try_append_here(data); }
  enum class write_verdict : std::uint8_t { accepted, dropped, rejected };
  /// Returns whether `count` more bytes may be written, by the connection's limits and the server's budget.
  write_verdict check_write(context& c, std::size_t count);
  /// Append accepted data. Throw std::bad_alloc.
  void append(context& c, std::span<const bytes> pieces);
  void append(context& c, shared_bytes data);
  /// Returns whether append() may keep a reference. As the first chunk, a reference would be taken for storage.
  [[nodiscard]] bool may_keep_reference() const noexcept { return builder_.has_storage(); }
  [[nodiscard]] std::size_t written() const noexcept { return builder_.size(); }
  void add_notice(context& c, std::unique_ptr<send_notice> notice);
  /// No write is accepted from now on. `shuts_down`: once all output has left, the peer is told that no more follows.
  static void refuse_writes(context& c, bool shuts_down = true) noexcept {
    output_baton_flags& flags = c.baton_flags(key());
    flags.shutdown_requested |= shuts_down;
    flags.checks_writes = true;
  }
  /// Begins a cork, which keeps output until the batch ends. Throws std::bad_alloc.
  static void cork(context& c);
  /// Ends one. Returns whether it was the last.
  static bool uncork(context& c) noexcept;
  /// Returns whether output has reached its high watermark.
  [[nodiscard]] bool is_above_watermark(const context& c) const noexcept {
    return written() + queued(c) > c.applied_limits().high_watermark;
  }
  /// Returns whether the handler must let others have their turn before it writes more.
  [[nodiscard]] bool is_full(const context& c) const noexcept;
  /// Returns whether the handler may write on; if not, on_writable is due, where there is one.
  [[nodiscard]] bool is_writable(context& c) noexcept;
  /// Between two messages: returns whether the handler must leave the rest of its input until there is room.
  [[nodiscard]] bool must_yield(context& c) noexcept {
    const output_baton_flags& flags = c.baton_flags().output;
    return (flags.checks_writes || flags.quantum_used) && yield_if_full(c);
  }
  /// run_writable() is due, before more input is delivered unless the handler `reads_on`.
  static void wait_for_room(context& c, bool reads_on = false) noexcept {
    c.baton_flags(key()).wants_writable = true;
    c.baton_flags(key()).reads_on = reads_on;
  }

  // ---- The queue [loop] ----

  [[nodiscard]] std::size_t queue_size() const noexcept { return queue_.size(); }
  /// Returns the number of bytes that may be sent ahead of everything else: none while output waits.
  [[nodiscard]] std::size_t urgent_room(const context& c) const noexcept;
  /// Sends bytes from outside. Large ones are kept by reference: a broadcast to slow peers is stored once.
  end_reason send_message(context& c, const shared_bytes& data) noexcept;
  /// Sends bytes beside those of the handler, wherever the baton is, but not in the middle of a handler's message.
  /// `merges`: with other data of this turn, not at once.
  end_reason send_beside(context& c, bytes data, const shared_bytes* whole = nullptr, bool merges = false) noexcept;
  /// Sends the queue, and adds the sends to `reason`.
  end_reason send_queue(context& c, counter& reason) noexcept;
  /// Looks how much of the output the peer has not taken, for its time limit.
  static void sample_progress(context& c) noexcept;
  /// Compares the queue with watermarks that may have changed.
  end_reason watch_watermarks(context& c) noexcept;
  /// Tells senders (where the policy refuses their data) and the connection that feeds this one. False: no memory.
  [[nodiscard]] bool notify_watermark(context& c, bool above) noexcept;
  /// A send has failed: drops the queue. From now on, output is discarded where it would be sent.
  end_reason discard(context& c) noexcept;
  /// The connection has ended: drops the queue. Output that is cut stays partial.
  void drop_queue(context& c) noexcept;
  /// Tells the peer that no more follows, once.
  static void shut_down(context& c) noexcept;
  /// Returns whether the handler continues by on_writable; if not, by the input that it left. There is room again.
  static bool end_wait(context& c) noexcept;

  // ---- Both [loop, baton] ----

  /// Before a batch of the fast path: lends a chunk to write to.
  void prepare(context& c, event_loop& loop) noexcept {
    loop.chunks().lend(builder_);
    if (!builder_.has_storage()) [[unlikely]]
      c.baton_flags(key()).checks_writes = true;
  }
  /// The batch goes on beyond the fast path, perhaps on another thread: its chunk is not lent any more.
  void leave_fast_path(context& c) const noexcept;
  /// Before another batch: provides one. Returns false without memory.
  [[nodiscard]] bool prepare_to_hand_off(context& c) noexcept {
    if (!c.loop_flags().output.none() || c.baton_flags().output.checks_writes || c.baton_extras_) [[unlikely]]
      return prepare_slowly(c);
    c.loop_.chunks().try_allocate(builder_);
    if (!builder_.has_storage()) [[unlikely]]
      c.baton_flags(key()).checks_writes = true;
    return true;
  }
  /// Called when the batch goes to another thread. The loop cannot know its output, so it charges a quarter quantum. If
  /// the turn's quota is used up, the batch starts without quantum.
  static void leave(context& c) noexcept;
  /// A batch has ended, and the next one has a quantum of its own.
  static void end_quantum(context& c) noexcept { c.baton_flags(key()).quantum_used = false; }
  /// [loop, baton] The handler's message is complete: bytes from outside may follow. Once the handler has asked for TLS
  /// they wait until it has begun.
  static void end_message(context& c) noexcept {
    c.loop_flags(key()).partial_message = c.baton_flags().input.starts_tls;
  }
  /// Returns whether the handler has written on, batch after batch without input between them, after a failed send.
  static bool exceeds_futile_writes(context& c) noexcept;
  /// Sends the output; it lies in one piece, and nothing is queued. If the kernel takes only part, calls `partial` with
  /// the engine's result and returns its result; `partial` must call keep_sending().
  template <class F>
  auto send_piece(context& c, event_loop& loop, F partial) noexcept {
    const bytes all = builder_.back();
    if (!all.empty()) [[likely]] {
      const engine::send_result sent = send_now(loop.io(), c, all);
      if (sent.bytes < all.size()) [[unlikely]]
        return partial(sent);
      loop.counters().sent(all.size());
    }
    loop.chunks().take_back(builder_);
    return decltype(partial(engine::send_result{}))();
  }
  end_reason keep_sending(context& c, engine::send_result sent) noexcept;
  /// Sends the written output, or appends it to the queue.
  end_reason send_built(context& c) noexcept {
    const output_loop_flags& flags = c.loop_flags().output;
    if (flags.is_queued || flags.send_failed || c.baton_flags().output.checks_writes || !builder_.is_one_piece())
        [[unlikely]]
      return join_queue(c, false);
    return send_piece(c, c.loop_, [&](engine::send_result sent) noexcept { return keep_sending(c, sent); });
  }
  /// [loop's thread] Sends in the middle of a batch, or queues behind earlier output. Returns false if nothing may
  /// leave now: nothing is written, on another thread, or under a cork.
  bool send_early(context& c, counter& reason, end_reason& failed) noexcept;
  /// The same for a batch that has written its quantum, within a message.
  end_reason send_quantum(context& c) noexcept;
  /// The connection is closed: drops the written output.
  void drop_builder(context& c) noexcept;
  /// Frees both chains of a connection that is destroyed.
  void release(context& c) noexcept;
  /// Decides whether write() may append to the current chunk unchecked, by the room that the limits leave. Output that
  /// is written already keeps its checks if `only_more`.
  void classify_writes(context& c, bool only_more = false) noexcept;
  /// Returns whether there is no state here that would have to migrate with the connection.
  [[nodiscard]] static bool is_quiescent(const context& c) noexcept;

  // ---- The end of the turn: output of several messages, and notices, functions that are called when output was sent
  // (connection_output_notices.cpp) ----

  [[nodiscard]] static bool is_at_turn_end(const context& c) noexcept;
  /// Calls the notices that are due, or all of the loop if `why` is set. Returns whether there is output to send.
  static bool turn_ends(context& c, error_code why) noexcept;
  static void schedule_notices(context& c) noexcept;
  /// Calls all notices, of the loop and of the baton.
  static void call_all_notices(context& c, error_code why) noexcept;

 private:
  using key = part_key<connection_output>;

  bool prepare_slowly(context& c) noexcept;
  [[nodiscard]] std::size_t queued(const context& c) const noexcept;
  write_verdict check_limited_write(context& c, std::size_t count, std::size_t waits);
  bool yield_if_full(context& c) const noexcept;
  end_reason send_all(context& c) noexcept;
  end_reason join_queue(context& c, bool kernel_is_full) noexcept;
  end_reason queue_changed(context& c) noexcept;
  static end_reason account(context& c, engine::send_result sent) noexcept;
  static void schedule_turn_end(context& c) noexcept;
  bool take_notices(context& c) noexcept;
  static void count_sent_for_notices(context& c, std::size_t count) noexcept;
  static void call_notices(context& c, error_code why) noexcept;
  /// Adds the sends of `send` to `reason`. Sends at the end of a batch are the rule and have no reason.
  template <class F>
  static end_reason count_sends(context& c, counter& reason, F send) noexcept {
    const std::uint64_t before = c.loop_.counters().sends.value();
    const end_reason why = send();
    reason.add(c.loop_.counters().sends.value() - before);
    return why;
  }

  byte_chain builder_;  // baton
  byte_chain queue_;    // loop
};

}  // namespace quintet::detail
