// SPDX-License-Identifier: BSL-1.0
// connection_input: a connection's unused input, and whether the engine reads more.
#pragma once

#include "../../base/memory/byte_buffer.hpp"
#include "connection_context.hpp"

#include <cstddef>
#include <span>

namespace quintet::detail {

/// Input is lent, unread or pending. Lent input lies in the engine's memory, during one batch. Unread input was left by
/// the handler, or is shorter than required. Pending input arrived when it could not be delivered; it follows all other
/// input. Nothing is lent when the loop goes on to its next event.
class connection_input {
 public:
  using context = connection_context;
  /// Bytes that wait for the handler, pending and unread together. Then the engine stops reading: TCP pushes back.
  static constexpr std::size_t waiting_limit = 64 * 1024;

  // ---- [baton] ----

  /// Returns the input to show to the handler.
  [[nodiscard]] bytes batch(const context& c) const noexcept {
    return c.batch_.input_is_lent ? c.loop_.lent_input() : unread_.data();
  }
  [[nodiscard]] bool has_storage() const noexcept { return unread_.has_storage(); }
  [[nodiscard]] bool nothing_unread() const noexcept { return unread_.empty(); }
  [[nodiscard]] std::size_t unread() const noexcept { return unread_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return unread_.size() + pending_.size(); }
  /// Marks the first `count` bytes as used. Throws std::bad_alloc if the rest of lent input cannot be stored.
  void use(context& c, bytes input, std::size_t count) {
    const bool all = count >= input.size();
    if (c.baton_flags_.handoff.timed) c.batch_.progressed = count > 0;
    if (!c.batch_.input_is_lent) {
      unread_.consume(all ? input.size() : count);
      c.baton_flags_.input.has_unread = !all;
    } else if (!all) {
      keep_rest(c, input.substr(count));
    }
  }
  /// The same for unread input.
  void consume(context& c, std::size_t count) noexcept {
    unread_.consume(count);
    c.baton_flags_.input.has_unread = !unread_.empty();
  }
  /// Delays delivery until `size` bytes are unread. Without memory, input is delivered as usual.
  static void require(context& c, std::size_t size) noexcept;
  [[nodiscard]] static std::size_t required(const context& c) noexcept {
    return c.baton_flags_.input.requires_more ? required_of_extras(c) : 0;
  }
  [[nodiscard]] bool requires_more(const context& c) const noexcept { return unread_.size() < required(c); }
  /// Appends to unread input. Throws std::bad_alloc.
  [[gnu::always_inline]] void append(context& c, bytes more) {
    c.loop_.buffers().allocate(unread_);
    if (c.baton_flags_.input.requires_more) [[unlikely]]
      unread_.reserve_announced(more.size(), required(c));
    unread_.append(more);
    c.baton_flags_.input.has_unread = true;
  }
  /// Records that the handler itself stores `size` bytes. Returns false without memory.
  [[nodiscard]] static bool count_kept(context& c, std::size_t size) noexcept;
  /// Before the batch goes to another thread: turns lent input into unread input. Returns false without memory.
  [[nodiscard]] bool keep_lent(context& c) noexcept;

  // ---- [loop] ----

  // Return why the engine could not be told: the connection must end.

  /// Appends behind all other input. Throws std::bad_alloc.
  end_reason append_pending(context& c, bytes arrived);
  void drop_pending(context& c) noexcept;
  /// Counts one more (1) or one fewer (-1) full connection that this one feeds.
  static void throttle(context& c, int change) noexcept;
  /// Tells the engine whether to read. `paused`: by the handler, if the caller may read that.
  end_reason update_reading(context& c, bool paused) const noexcept { return set_reading(c, wants_reading(c, paused)); }
  [[nodiscard]] bool wants_reading(const context& c, bool paused) const noexcept {
    return wants_reading(c, paused, withheld(c));
  }
  /// Returns the bytes of unread input that the handler can use without more input: it has not seen them, or it stopped
  /// before them. Returns 0 while they belong to another thread.
  [[nodiscard]] std::size_t withheld(const context& c) const noexcept;
  /// Returns whether the engine reads and should not, or the reverse, while more input may arrive.
  [[nodiscard]] bool must_change_reading(const context& c, bool paused) const noexcept {
    return !c.loop_flags_.input.peer_ended && c.loop_flags_.input.stopped == wants_reading(c, paused);
  }

  // ---- Both [loop, baton] ----

  /// Turns pending input into unread input. Throws std::bad_alloc. Returns as append_pending().
  end_reason absorb_pending(context& c);
  /// Returns unread input, which the handler sees next.
  bytes peek(context& c) const noexcept {
    c.baton_flags_.input.has_unread = !unread_.empty();
    return unread_.data();
  }
  /// Turns unread input into pending input, as if it had just arrived.
  void make_pending(context& c) noexcept;
  /// Returns space for the rest of the input that the handler requires. Throws std::bad_alloc.
  [[nodiscard]] std::span<char> receive_space(context& c);
  /// Records `count` bytes received there.
  void received_in_place(std::size_t count) noexcept { unread_.commit(count); }
  /// Asks the engine to receive there, if that pays.
  void offer_space(context& c) noexcept;
  /// Charges input that is unread, pending or stored by the handler to the server's budget. Small amounts are free.
  end_reason charge(context& c) noexcept;
  static void release_charge(context& c) noexcept;
  /// Returns the buffer to the loop.
  void recycle(context& c) noexcept { c.loop_.buffers().recycle(unread_); }
  /// Takes all input from the object that had the connection before.
  void take_from(context& c, connection_input& from, context& before) noexcept;

 private:
  [[nodiscard]] static std::size_t required_of_extras(const context& c) noexcept;
  [[nodiscard]] bool wants_reading(const context& c, bool paused, std::size_t unseen) const noexcept;
  void keep_rest(context& c, bytes unused);
  static end_reason set_reading(context& c, bool on) noexcept;

  cached_buffer unread_;   // baton
  cached_buffer pending_;  // loop
};

}  // namespace quintet::detail
