// SPDX-License-Identifier: BSL-1.0
// connection_input: a connection's unused input, and whether the engine reads more.
#pragma once

#include "../../base/memory/byte_buffer.hpp"
#include "connection_context.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>

namespace quintet::detail {

/// Input is lent, unread or pending. Lent input lies in the engine's memory, during one batch. Unread input was left by
/// the handler, or is shorter than required. Pending input arrived when it could not be delivered; it follows all other
/// input. Nothing is lent when the loop goes on to its next event.
///
/// A function that can find that the connection must end returns the reason: no memory, the budget, or an engine that
/// could not be told.
class connection_input {
 public:
  using context = connection_context;
  static constexpr auto of_loop = &connection_loop_flags::input;
  static constexpr auto of_baton = &connection_baton_flags::input;
  /// Bytes that wait for the handler, pending and unread together. Then the engine stops reading: TCP pushes back.
  static constexpr std::size_t waiting_limit = 64 * 1024;

  // ---- [baton] ----

  /// Returns the input to show to the handler.
  [[nodiscard]] bytes batch(const context& c) const noexcept {
    return c.baton_flags().input.is_lent ? c.loop_.lent_input() : unread_.data();
  }
  [[nodiscard]] std::size_t unread() const noexcept { return unread_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return unread_.size() + pending_.size(); }
  /// Marks the first `count` bytes as used. Throws std::bad_alloc if the rest of lent input cannot be stored.
  void use(context& c, bytes input, std::size_t count) {
    c.note_progress(count > 0);
    if (!c.baton_flags().input.is_lent)
      consume(c, std::min(count, input.size()));
    else if (count < input.size())
      keep_rest(c, input.substr(count));
  }
  /// The same for unread input.
  void consume(context& c, std::size_t count) noexcept {
    unread_.consume(count);
    c.baton_flags(key()).has_unread = !unread_.empty();
  }
  static void pause(context& c, bool on) noexcept { c.baton_flags(key()).paused = on; }
  /// The handler has asked for TLS, or TLS has begun: nothing is delivered in between.
  static void await_tls(context& c, bool on) noexcept { c.baton_flags(key()).starts_tls = on; }
  /// Delays delivery until `size` bytes are unread. Without memory, input is delivered as usual.
  static void require(context& c, std::size_t size) noexcept;
  [[nodiscard]] static std::size_t required(const context& c) noexcept {
    return c.baton_flags().input.requires_more ? required_of_extras(c) : 0;
  }
  [[nodiscard]] bool requires_more(const context& c) const noexcept { return unread_.size() < required(c); }
  /// Records that the handler itself stores `size` bytes. Returns false without memory.
  [[nodiscard]] static bool count_kept(context& c, std::size_t size) noexcept;
  /// Before the batch goes to another thread: turns lent input into unread input.
  [[nodiscard]] end_reason keep_lent(context& c) noexcept;

  // ---- [loop] ----

  /// The handler has the next batch at once: without a copy, unless there is unread input before it.
  [[gnu::always_inline]] end_reason take(context& c, bytes arrived) noexcept {
    const input_baton_flags& flags = c.baton_flags().input;
    if (c.constants_.keeps_baton || flags.has_unread || flags.requires_more) return append(c, arrived);
    c.loop_.lend_input(arrived);
    c.baton_flags(key()).is_lent = true;
    return {};
  }
  /// The handler sees all input of this batch, and may require more again.
  static void begin_batch(context& c) noexcept { c.baton_flags(key()).requires_more = false; }
  /// Appends to unread input.
  [[gnu::always_inline]] end_reason append(context& c, bytes more) noexcept try {
    keep(c, more);
    return {};
  } catch (const std::exception&) {
    return no_memory();
  }
  /// Appends behind all other input.
  end_reason append_pending(context& c, bytes arrived) noexcept;
  void drop_pending(context& c) noexcept;
  /// Nothing more will arrive: the peer has finished, or the stream broke.
  static void note_end(context& c, bool was_reset) noexcept {
    c.loop_flags(key()).peer_ended = true;
    c.loop_flags(key()).was_reset = was_reset;
  }
  /// Draining begins: input that has arrived by now is still taken, and no later input.
  static void begin_drain(context& c) noexcept;
  [[nodiscard]] static bool takes_while_draining(context& c, std::size_t arrived) noexcept;
  /// Counts one more (1) or one fewer (-1) full connection that this one feeds.
  static void throttle(context& c, int change) noexcept;
  /// Tells the engine whether to read.
  end_reason update_reading(context& c) const noexcept { return set_reading(c, wants_reading(c, withheld(c))); }
  /// The handshake tells the engine whether to read.
  static end_reason read_for_handshake(context& c, bool on) noexcept { return set_reading(c, on); }
  /// The connection gets another engine, which begins to read.
  static void use_engine_that_reads(context& c) noexcept { c.loop_flags(key()).stopped = false; }
  /// Returns whether the engine reads and should not, or the reverse, while more input may arrive.
  [[nodiscard]] bool must_change_reading(const context& c) const noexcept {
    const input_loop_flags& flags = c.loop_flags().input;
    return !flags.peer_ended && flags.stopped == wants_reading(c, withheld(c));
  }
  /// Returns whether unread input that the handler has seen exceeds max_input.
  [[nodiscard]] bool is_refused(const context& c) const noexcept {
    return withheld(c) == 0 && unread_.size() > c.applied_limits().max_input;
  }
  /// A batch has ended: frees what it has used up.
  end_reason end_batch(context& c) noexcept {
    c.baton_flags(key()).is_lent = false;
    if (!unread_.has_storage() || c.baton_flags().input.has_unread) return {};
    c.loop_.buffers().recycle(unread_);
    return c.extras_ ? charge_less(c) : end_reason();
  }

  // ---- Both [loop, baton] ----

  /// Turns pending input into unread input.
  end_reason absorb_pending(context& c) noexcept;
  /// Returns unread input, which the handler sees next.
  [[nodiscard]] bytes peek() const noexcept { return unread_.data(); }
  /// Records whether the handler will be shown unread input without waiting for more.
  static void note_unseen(context& c, bool unseen) noexcept { c.loop_flags(key()).has_unseen = unseen; }
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
  /// Returns whether there is nothing here that a new object could not take over.
  [[nodiscard]] static bool is_quiescent(const context& c) noexcept;
  /// Takes all input and its charge from the object that had the connection before.
  void take_from(context& c, connection_input& from, context& before) noexcept;

 private:
  using key = part_key<connection_input>;

  [[nodiscard]] static std::size_t required_of_extras(const context& c) noexcept;
  [[nodiscard]] std::size_t withheld(const context& c) const noexcept;
  [[nodiscard]] bool wants_reading(const context& c, std::size_t unseen) const noexcept;
  void keep_rest(context& c, bytes unused);
  [[gnu::always_inline]] void keep(context& c, bytes more) {
    c.loop_.buffers().allocate(unread_);
    if (c.baton_flags().input.requires_more) [[unlikely]]
      unread_.reserve_announced(more.size(), required(c));
    unread_.append(more);
    c.baton_flags(key()).has_unread = true;
  }
  static end_reason set_reading(context& c, bool on) noexcept;
  end_reason charge_less(context& c) noexcept;

  cached_buffer unread_;   // baton
  cached_buffer pending_;  // loop
};

}  // namespace quintet::detail
