// SPDX-License-Identifier: BSL-1.0
// connection_input: the input of a connection that has arrived and was not used, and whether the engine reads more.
#pragma once

#include "../../base/memory/buffer_cache.hpp"
#include "connection_context.hpp"

#include <cstddef>
#include <span>

namespace quintet::detail {

/// A byte of input is lent (it lies in the engine's memory, for the time of one batch), unread (the handler has seen it
/// and left it, or requires more), or pending (it has arrived while the handler could not be given it). What is lent or
/// unread comes before what is pending. Nothing is lent when the loop goes on to its next event.
class connection_input {
 public:
  using context = connection_context;
  static constexpr std::size_t pending_limit = 64 * 1024;  ///< then the engine stops reading, and TCP pushes back

  // ---- [baton] ----

  /// What the handler is shown.
  [[nodiscard]] bytes batch(const context& c) const noexcept {
    return c.batch_.input_is_lent ? c.loop_.lent_input() : unread_.data();
  }
  [[nodiscard]] bool has_storage() const noexcept { return unread_.has_storage(); }
  [[nodiscard]] bool nothing_unread() const noexcept { return unread_.empty(); }
  [[nodiscard]] std::size_t unread() const noexcept { return unread_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return unread_.size() + pending_.size(); }
  /// The first bytes of the batch were used. Throws std::bad_alloc where what is left of lent input has no place.
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
  /// The same of unread input.
  void consume(context& c, std::size_t count) noexcept {
    unread_.consume(count);
    c.baton_flags_.input.has_unread = !unread_.empty();
  }
  /// Nothing is delivered again before so many bytes are unread. Without memory everything is.
  static void require(context& c, std::size_t size) noexcept;
  [[nodiscard]] static std::size_t required(const context& c) noexcept {
    return c.baton_flags_.input.requires_more ? c.baton_extras_->required : 0;
  }
  [[nodiscard]] bool requires_more(const context& c) const noexcept { return unread_.size() < required(c); }
  /// Behind what is unread. Throws std::bad_alloc.
  [[gnu::always_inline]] void append(context& c, bytes more) {
    c.loop_.buffers().allocate(unread_);
    if (c.baton_flags_.input.requires_more) [[unlikely]]
      unread_.reserve_announced(more.size(), required(c));
    unread_.append(more);
    c.baton_flags_.input.has_unread = true;
  }
  /// The handler keeps so many bytes itself. False: there is no memory to note it.
  [[nodiscard]] static bool count_kept(context& c, std::size_t size) noexcept;
  /// Before the batch goes to another thread: lent input becomes the connection's own. False: there is no memory.
  [[nodiscard]] bool keep_lent(context& c) noexcept;

  // ---- [loop] ----

  /// Behind all other input. Throws std::bad_alloc.
  void append_pending(context& c, bytes arrived);
  void drop_pending(context& c) noexcept;
  /// One connection more, or less, that this one feeds can take no more.
  static void throttle(context& c, int change) noexcept;
  /// Tells the engine whether to read. `paused`: by the handler, where the caller may look at that.
  void update_reading(context& c, bool paused) const noexcept { set_reading(c, wants_reading(c, paused)); }
  [[nodiscard]] bool wants_reading(const context& c, bool paused) const noexcept;
  /// More input may arrive, and the engine reads and should not, or the other way round.
  [[nodiscard]] bool must_change_reading(const context& c, bool paused) const noexcept {
    return !c.loop_flags_.input.peer_ended && c.loop_flags_.input.stopped == wants_reading(c, paused);
  }

  // ---- Both [loop, baton] ----

  /// Pending input becomes unread. Throws std::bad_alloc.
  void absorb_pending(context& c);
  /// Unread input, which is what the handler sees next.
  bytes look(context& c) const noexcept {
    c.baton_flags_.input.has_unread = !unread_.empty();
    return unread_.data();
  }
  /// As if unread input had just arrived and nobody had seen it.
  void make_pending(context& c) noexcept;
  /// Where the engine may receive the rest of what the handler requires. Throws std::bad_alloc.
  [[nodiscard]] std::span<char> receive_space(context& c);
  /// So many bytes have arrived there.
  void received_in_place(std::size_t count) noexcept { unread_.commit(count); }
  /// Asks the engine to receive there, if it is worth it.
  void offer_space(context& c) noexcept;
  /// Input that is unread, pending or kept by the handler counts against the server's budget. What is short does not.
  end_reason charge(context& c) noexcept;
  static void release_charge(context& c) noexcept;
  /// The buffer goes back to the loop.
  void recycle(context& c) noexcept { c.loop_.buffers().recycle(unread_); }
  /// Takes over all input from the object that had the connection before.
  void take_from(context& c, connection_input& from, context& before) noexcept;

 private:
  void keep_rest(context& c, bytes unused);
  static void set_reading(context& c, bool on) noexcept;

  cached_buffer unread_;   // baton
  cached_buffer pending_;  // loop
};

}  // namespace quintet::detail
