// SPDX-License-Identifier: BSL-1.0
// connection_output: a connection's output: what the handler is writing, and what waits for the kernel.
#pragma once

#include "../../base/memory/byte_chain.hpp"
#include "../watch/type_text.hpp"
#include "connection_context.hpp"

#include <boost/intrusive/list.hpp>

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
  [[nodiscard]] bool nothing_written() const noexcept { return builder_.empty(); }
  [[nodiscard]] bool is_above_watermark(const context& c) const noexcept {
    return written() + queued(c) > c.applied_limits().high_watermark;
  }
  void add_notice(context& c, std::unique_ptr<send_notice> notice);
  /// Ends one cork. Returns whether it was the last.
  static bool uncork(context& c) noexcept;
  /// [loop, baton] Returns whether output may leave before the batch ends: nothing is queued before it, no cork.
  [[nodiscard]] bool may_send_early(const context& c) const noexcept {
    return !builder_.empty() && queue_.empty() && !(c.baton_extras_ && is_corked(c));
  }

  // ---- The queue [loop] ----

  [[nodiscard]] std::size_t queue_size() const noexcept { return queue_.size(); }
  /// Returns whether bytes from outside may be sent, now or later.
  [[nodiscard]] static bool takes_from_outside(const context& c) noexcept;
  /// Sends bytes from outside. Large ones are kept by reference: a broadcast to slow peers is stored once.
  end_reason send_message(context& c, const shared_bytes& data) noexcept;
  /// Sends an answer to urgent bytes at once.
  end_reason send_urgent(context& c, bytes data) noexcept { return send_beside(c, data, nullptr, false); }
  /// Sends the queue, and adds the sends to `reason`.
  end_reason send_queue(context& c, counter& reason) noexcept;
  /// Compares the queue with watermarks that may have changed.
  end_reason watch_watermarks(context& c) noexcept;
  /// Tells senders (where the policy refuses their data) and the connection that feeds this one. False: no memory.
  [[nodiscard]] bool notify_watermark(context& c, bool above) noexcept;
  /// The connection has ended: drops the queue. Returns whether that truncates output.
  [[nodiscard]] bool drop_queue(context& c) noexcept;

  // ---- Both [loop, baton] ----

  /// Before a batch: provides a chunk to write to.
  void prepare(context& c) noexcept {
    c.loop_.chunks().try_allocate(builder_);
    if (!builder_.has_storage()) [[unlikely]]
      c.baton_flags_.checks_writes = true;
  }
  /// The same for a batch that does not take the fast path. Returns false without memory.
  [[nodiscard]] bool prepare_to_hand_off(context& c) noexcept {
    if (!c.loop_flags_.output.none() || c.baton_flags_.checks_writes || c.baton_extras_) [[unlikely]]
      return prepare_slowly(c);
    prepare(c);
    return true;
  }
  /// Sends the output; it lies in one piece, and nothing is queued. If the kernel takes only part, calls `partial` with
  /// the engine's result and returns its result; `partial` must call keep_sending().
  template <class F>
  auto send_piece(context& c, F partial) noexcept {
    const bytes all = builder_.front();
    if (!all.empty()) [[likely]] {
      const engine::send_result sent = c.loop_.io().send(c, all);
      if (sent.bytes < all.size()) [[unlikely]]
        return partial(sent);
      c.loop_.counters().sent(all.size());
    }
    c.loop_.chunks().recycle_one_piece(builder_);
    return decltype(partial(engine::send_result{}))();
  }
  end_reason keep_sending(context& c, engine::send_result sent) noexcept;
  /// Sends the written output, or appends it to the queue.
  end_reason send_built(context& c) noexcept {
    if (c.loop_flags_.output.is_queued || c.baton_flags_.checks_writes || !builder_.is_one_piece()) [[unlikely]]
      return join_queue(c, false);
    return send_piece(c, [&](engine::send_result sent) noexcept { return keep_sending(c, sent); });
  }
  /// The same in the middle of a batch.
  end_reason send_early(context& c, counter& reason) noexcept;
  /// The connection is closed: drops the written output.
  void drop_builder(context& c) noexcept;
  /// Frees both chains of a connection that is destroyed.
  void release(context& c) noexcept;
  /// Decides whether write() may append to the current chunk unchecked, by the room that the limits leave.
  void classify_writes(context& c) noexcept;
  /// Returns whether there is no state here that would have to migrate with the connection.
  [[nodiscard]] bool is_quiescent(const context& c) const noexcept;

  // ---- Notices: functions that are called when output was sent (connection_output_notices.cpp) ----------------------

  static void schedule_notices(context& c) noexcept;
  /// Calls the reached notices without an error. If `why` is set, then calls all others of the loop with it.
  static void call_notices(context& c, error_code why) noexcept;
  /// Calls all notices, of the loop and of the baton.
  static void call_all_notices(context& c, error_code why) noexcept;

 private:
  bool prepare_slowly(context& c) noexcept;
  [[nodiscard]] static bool is_corked(const context& c) noexcept;
  [[nodiscard]] std::size_t queued(const context& c) const noexcept;
  write_verdict check_limited_write(context& c, std::size_t count, std::size_t waits);
  void check_form(context& c) const noexcept {
    if (!builder_.is_one_piece()) c.baton_flags_.checks_writes = true;
  }
  void copy(context& c, bytes data);
  end_reason send_beside(context& c, bytes data, const shared_bytes* whole, bool merges) noexcept;
  end_reason send_all(context& c) noexcept;
  end_reason join_queue(context& c, bool kernel_is_full) noexcept;
  end_reason queue_changed(context& c) noexcept;
  bool notify_source(context& c, bool throttle) noexcept;
  void note_queue(context& c) const noexcept { c.loop_flags_.output.is_queued = !queue_.empty(); }
  static end_reason account(context& c, engine::send_result sent) noexcept;
  bool take_notices(context& c) noexcept;
  static void count_sent_for_notices(context& c, std::size_t count) noexcept;
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
