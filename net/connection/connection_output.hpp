// SPDX-License-Identifier: BSL-1.0
// connection_output: the output of a connection: what the handler is writing, and what waits for the kernel.
#pragma once

#include "../../base/memory/byte_chain.hpp"
#include "connection_context.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quintet::detail {

/// Two chains of bytes. The holder of the baton appends to the builder; the loop sends the queue. Bytes in the queue
/// leave before bytes in the builder. When the baton is back, the builder is sent, or joins the queue. The server's
/// budget knows of the queue, and of a builder that has grown above the high watermark.
///
/// A function that can find the connection broken returns why; the caller then ends the connection. Nothing here does.
class connection_output {
 public:
  using context = connection_context;
  static constexpr std::size_t large_write = 4 * 1024;  ///< what is smaller costs less to copy than to send as a piece

  // ---- The builder [baton] ----

  /// Appends if the chunk there is has room. There is one, or checks_writes is set.
  bool try_append(bytes data) noexcept { return builder_.try_append_here(data); }
  enum class admission : std::uint8_t { taken, dropped, refused };
  /// Whether so many more bytes may be written, by the connection's limits and its server's budget.
  admission admit(context& c, std::size_t count);
  /// Of what was admitted. Throws std::bad_alloc.
  void append(context& c, std::span<const bytes> pieces);
  void append(context& c, shared_bytes data);
  /// Whether append() may keep a reference. Without a first chunk it would be taken for one.
  [[nodiscard]] bool may_keep_reference() const noexcept { return builder_.has_storage(); }
  [[nodiscard]] std::size_t written() const noexcept { return builder_.size(); }
  [[nodiscard]] bool nothing_written() const noexcept { return builder_.empty(); }
  [[nodiscard]] bool is_above_watermark(const context& c) const noexcept {
    return written() + queued(c) > c.applied_limits().high_watermark;
  }
  void add_notice(context& c, std::unique_ptr<send_notice> notice);
  /// Returns whether that was the last cork.
  static bool uncork(context& c) noexcept { return --c.baton_extras_->corks == 0; }
  /// [loop, baton] Whether what is written may leave before the batch ends: nothing is queued before it, no cork.
  [[nodiscard]] bool may_send_early(const context& c) const noexcept {
    return !builder_.empty() && queue_.empty() && !(c.baton_extras_ && c.baton_extras_->corks > 0);
  }

  // ---- The queue [loop] ----

  [[nodiscard]] std::size_t queue_size() const noexcept { return queue_.size(); }
  /// Whether bytes from outside may be sent at all, at some time.
  [[nodiscard]] static bool takes_from_outside(const context& c) noexcept;
  /// Bytes from outside. Large ones are kept by reference: a broadcast that many peers do not read takes the memory of
  /// one.
  end_reason send_message(context& c, const shared_bytes& data) noexcept;
  /// An answer to urgent bytes: leaves at once.
  end_reason send_urgent(context& c, bytes data) noexcept { return send_beside(c, data, nullptr, false); }
  /// The kernel takes more.
  end_reason send_queue(context& c, counter& reason) noexcept;
  /// The watermarks may be others: what they say of the queue.
  end_reason watch_watermarks(context& c) noexcept;
  /// Tells those who have to know: senders, where the policy refuses what they send, and the connection that feeds this
  /// one. False: there is no memory.
  [[nodiscard]] bool tell_above(context& c, bool above) noexcept;
  /// The connection has ended: drops the queue. Returns whether the peer has been sent a part of something.
  [[nodiscard]] bool drop_queue(context& c) noexcept;

  // ---- Both [loop, baton] ----

  /// Before a batch: a chunk to write to.
  void prepare(context& c) noexcept {
    c.loop_.chunks().try_allocate(builder_);
    if (!builder_.has_storage()) [[unlikely]]
      c.baton_flags_.checks_writes = true;
  }
  /// The same of a batch that does not take the fast path. False: there is no memory.
  [[nodiscard]] bool prepare_to_hand_off(context& c) noexcept {
    if (!c.loop_flags_.output.none() || c.baton_flags_.checks_writes) [[unlikely]]
      return prepare_slowly(c);
    prepare(c);
    if (c.baton_extras_) c.baton_extras_->queued = 0;
    return true;
  }
  /// Nothing is queued, and what has been written lies in one piece. Returns what `partial`, called with the engine's
  /// result where not all of it has gone, returns; else nothing. It is to call keep_sending().
  template <class F>
  auto send_piece(context& c, F partial) noexcept {
    const bytes all = builder_.front();
    if (!all.empty()) [[likely]] {
      const engine::send_result sent = c.loop_.io().send(c, all);
      if (sent.bytes < all.size()) [[unlikely]]
        return partial(sent);
      c.loop_.counters().sent(all.size());
    }
    c.loop_.chunks().take_back_piece(builder_);
    return decltype(partial(engine::send_result{}))();
  }
  end_reason keep_sending(context& c, engine::send_result sent) noexcept;
  /// What has been written is sent, or joins the queue.
  end_reason send_built(context& c) noexcept {
    if (c.loop_flags_.output.is_queued || c.baton_flags_.checks_writes || !builder_.is_one_piece()) [[unlikely]]
      return join_queue(c, false);
    return send_piece(c, [&](engine::send_result sent) noexcept { return keep_sending(c, sent); });
  }
  /// The same in the middle of a batch.
  end_reason send_early(context& c, counter& reason) noexcept;
  /// The connection is closed: drops what was written.
  void drop_builder(context& c) noexcept;
  /// Both chains, of a connection that is destroyed.
  void release(context& c) noexcept;
  /// Whether write() may append within the chunk there is without asking, by what the limits leave.
  void classify_writes(context& c) noexcept;
  /// The part has nothing that would have to migrate with its connection.
  [[nodiscard]] bool is_quiescent(const context& c) const noexcept;

  // ---- Notices: functions that are told when output was sent (connection_output_notices.cpp) ----

  static void tell_at_turn_end(context& c) noexcept;
  /// Calls those that are due; `why`: of an ended connection, all of the loop's, with that reason.
  static void tell_notices(context& c, error_code why) noexcept;
  /// Calls all there are.
  static void tell_all_notices(context& c, error_code why) noexcept;

 private:
  [[nodiscard]] std::size_t queued(const context& c) const noexcept;
  admission admit_above_gate(context& c, std::size_t count, std::size_t waits);
  void check_form(context& c) const noexcept {
    if (!builder_.is_one_piece()) c.baton_flags_.checks_writes = true;
  }
  void copy(context& c, bytes data);
  end_reason send_beside(context& c, bytes data, const shared_bytes* whole, bool merges) noexcept;
  end_reason send_all(context& c) noexcept;
  end_reason join_queue(context& c, bool kernel_is_full) noexcept;
  end_reason queue_changed(context& c) noexcept;
  bool tell_source(context& c, bool throttle) noexcept;
  bool prepare_slowly(context& c) noexcept;
  void note_queue(context& c) const noexcept { c.loop_flags_.output.is_queued = !queue_.empty(); }
  static end_reason account(context& c, engine::send_result sent) noexcept;
  bool take_notices(context& c) noexcept;
  static void note_taken(context& c, std::size_t count) noexcept;
  /// Why a batch's output leaves at its end is not counted: that is the rule.
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
