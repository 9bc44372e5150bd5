// SPDX-License-Identifier: BSL-1.0
// connection_context: state that a connection's parts share: the loop, the handle, the flags, limits and extras.
#pragma once

#include "../../base/error.hpp"
#include "../loop/cancellation.hpp"
#include "../loop/event_loop.hpp"
#include "../watch/affinity_guard.hpp"
#include "connection_flags.hpp"
#include "connection_host.hpp"

#include <memory>
#include <string>

namespace quintet {

class connection_deadlines;

}  // namespace quintet

namespace quintet::detail {

struct connection_baton_extras;
struct connection_loop_extras;

/// What other threads have posted to a connection, under the registry's lock. Only the registry uses it.
class connection_posts {
  friend connection_registry;
  enum note : std::uint8_t { refuses_sends = 1, close_is_posted = 2, abort_is_posted = 4, throttle_is_posted = 8 };
  [[nodiscard]] bool has(note n) const noexcept { return (notes_ & n) != 0; }
  /// Returns what it was before.
  bool set(note n, bool on = true) noexcept {
    const bool before = has(n);
    notes_ = static_cast<std::uint8_t>(on ? notes_ | n : notes_ & ~n);
    return before;
  }
  [[gnu::packed]] std::int32_t throttle_change_ = 0;  // sum that has not arrived. Packed, as a connection has no room
  std::uint8_t notes_ = 0;
};

/// Settings of one connection alone.
struct connection_settings {
  connection_limits limits;
  connection_id source;
};

/// Each part receives it with each call and needs no pointer of its own. All parts may read the flags; the name of a
/// flag says what it is about. A part writes only its own, by its key.
class connection_context : public stream_channel {
 public:
  connection_context(const connection_context&) = delete;
  connection_context& operator=(const connection_context&) = delete;

  // ---- Flags ----

  [[nodiscard]] const connection_loop_flags& loop_flags() const noexcept { return loop_flags_; }
  /// [baton]
  [[nodiscard]] const connection_baton_flags& baton_flags() const noexcept { return baton_flags_; }
  template <class Part>
  [[nodiscard]] auto& loop_flags(part_key<Part>) noexcept {
    return loop_flags_.*Part::of_loop;
  }
  template <class Part>
  [[nodiscard]] auto& baton_flags(part_key<Part>) noexcept {
    return baton_flags_.*Part::of_baton;
  }
  /// Returns whether no flag is set: nearly every batch finds this and takes the fast path. Reads the baton's flags
  /// only after the baton has been returned.
  [[nodiscard]] bool is_idle(handoff_loop_flags but_for = {}) const noexcept {
    return loop_flags_.none_but(but_for) && baton_flags_.none();
  }
  [[nodiscard]] bool has_ended() const noexcept { return loop_flags_.phase == connection_phase::ended; }
  [[nodiscard]] bool is_lingering() const noexcept { return loop_flags_.phase == connection_phase::lingering; }
  [[nodiscard]] bool is_draining() const noexcept { return loop_flags_.phase == connection_phase::draining; }
  /// Returns whether close() was accepted.
  [[nodiscard]] bool is_closing() const noexcept { return loop_flags_.phase >= connection_phase::closing; }
  [[nodiscard]] bool baton_is_out() const noexcept { return loop_flags_.handoff.baton_out; }
  /// [loop] Returns whether this thread may touch the baton's data: the loop has the baton, or its holder runs here.
  [[nodiscard]] bool has_baton_here() const noexcept {
    return !baton_is_out() || (constants_.runs_here && !loop_flags_.handoff.baton_lent);
  }
  /// [baton] The batch has changed something that the loop must put into force.
  void note_changes() noexcept { baton_flags_.core.has_changes = true; }
  /// [baton] Records whether the peer's message made progress in this batch. Only time limits ask.
  void note_progress(bool progressed) noexcept {
    if (is_timed_) baton_flags_.core.stalled = !progressed;
  }

  /// Checks that the caller holds the baton; every [baton] function for users begins with it.
  void check_held(const affinity_guard::place& by = affinity_guard::place::current()) const noexcept {
    guard_.check_baton(id_, by);
  }
  [[nodiscard]] const connection_baton_flags& held(
      const affinity_guard::place& by = affinity_guard::place::current()) const noexcept {
    check_held(by);
    return baton_flags_;
  }
  /// [loop, or baton] Return the peer's address, and this end's: what a proxy has told, or the socket's. After the
  /// handle was closed: what keep_ends() stored.
  [[nodiscard]] std::string peer() const;
  [[nodiscard]] std::string local() const;
  /// [baton] Returns what the TLS handshake has found out, or null.
  [[nodiscard]] const tls_info* tls() const noexcept;
  /// [loop] Keeps the transport of a stream that an engine has given back. One that carries something has extras.
  void keep_carried(stream_handle&& removed) noexcept;
  /// [loop] Keeps the facts of a new stream that no engine keeps. Returns false without memory.
  [[nodiscard]] bool keep_facts_of(const stream_handle& stream) noexcept;
  /// [loop, baton] Moves the stream out. It must not be registered with an engine.
  stream_handle take_stream() noexcept;
  /// [loop, baton] Keeps the addresses for the time after the handle. Without memory they become empty.
  void keep_ends() noexcept;
  /// [loop, or baton] Returns the connection's own limits, or the server's.
  [[nodiscard]] const connection_limits& applied_limits() const noexcept { return own_ ? own_->limits : host_.limits; }
  /// [loop, baton] Returns null if no time limit applies. They then know of activity on the fast path.
  [[nodiscard]] connection_deadlines* deadlines() const noexcept { return extras_ ? deadlines_of_extras() : nullptr; }
  /// [loop, baton] Returns whether output is above its high watermark, and overflow_policy::pause holds input back; the
  /// engine reads until 64 KiB wait.
  [[nodiscard]] bool output_holds_input() const noexcept {
    return loop_flags_.output.above_watermark && !constants_.reads_freely &&
           applied_limits().overflow == overflow_policy::pause;
  }
  /// [loop, baton] Returns whether the handler has stopped until there is room for output.
  [[nodiscard]] bool waits_for_room() const noexcept {
    return baton_flags_.output.wants_writable || baton_flags_.output.yields;
  }
  /// [loop, baton] Returns whether input must not be delivered now.
  [[nodiscard]] bool holds_input() const noexcept {
    const input_baton_flags& of_handler = baton_flags_.input;
    return (waits_for_room() && !baton_flags_.output.reads_on) || output_holds_input() || of_handler.paused ||
           of_handler.starts_tls || loop_flags_.input.throttled;
  }
  /// [loop, baton] Returns whether there is input that the handler has not seen. No further byte can decide the class
  /// of a connection that drains, or whose peer has ended: what classify() has seen is then the handler's.
  [[nodiscard]] bool has_unseen_input() const noexcept {
    const input_loop_flags& in = loop_flags_.input;
    return in.has_pending || in.has_unseen ||
           (enabled_.classify && baton_flags_.input.has_unread && (in.peer_ended || is_draining()));
  }
  /// [loop, baton] Returns whether the connection drains and the handler has seen all input it will see.
  [[nodiscard]] bool is_drain_finished() const noexcept { return is_draining() && has_drained(); }
  /// [loop, baton] Returns whether the server ignores input, so that the peer's clocks stand still. In model 1 the
  /// thread blocks in send() while output waits.
  [[nodiscard]] bool ignores_input() const noexcept {
    return holds_input() || is_closing() || (loop_flags_.output.is_queued && loop_.io().capabilities().blocking_send);
  }
  /// [loop] Returns whether bytes from outside may be sent now without splitting a message of the handler.
  [[nodiscard]] bool takes_bytes_now() const noexcept {
    return !loop_flags_.output.partial_message && !loop_flags_.handoff.has_messages;
  }
  /// [baton] Returns whether the handler runs on the loop's thread.
  [[nodiscard]] bool is_on_loop() const noexcept { return constants_.runs_here || loop_.in_this_thread(); }
  /// [loop] Starts the timer unless it fires by the next deadline. expired() restarts a timer that fires early.
  void watch_time() noexcept;

  /// [loop] Makes deadlines if they are missing. Returns false without memory.
  [[nodiscard]] bool make_deadlines() noexcept;
  /// [loop] Makes the loop's extras if they are missing. Returns false without memory.
  [[nodiscard]] bool make_extras() noexcept;
  /// [baton] Makes the baton's extras if they are missing. Returns false without memory.
  [[nodiscard]] bool make_baton_extras() noexcept;
  /// [baton] The same for callers that can report the lack of memory: throws std::bad_alloc.
  connection_baton_extras& extras_of_baton();

  // Events of the loop's extras. The coordinator (connection_core) decides what follows.
  /// [loop] The timer has fired.
  virtual void expired() noexcept = 0;
  /// [loop] The loop's turn ends, and the extras were deferred in it.
  virtual void turn_ends() noexcept = 0;
  /// [loop] The fair queue gives a connection that writes much its quantum.
  virtual void continue_writing() noexcept = 0;

  // These lie in the padding behind the channel.
  const handoff_constants constants_;

 private:
  [[nodiscard]] bool has_drained() const noexcept;

  alignas(4) connection_loop_flags loop_flags_;
  connection_baton_flags baton_flags_;

 public:
  int handle_ = -1;  // open until the baton is returned for the last time
  event_loop& loop_;
  connection_host& host_;
  connection_id id_;
  connection_silence silence_;
  connection_posts posts_;
  enabled_callbacks enabled_;  // loop
  bool is_timed_ = false;      // there is a time limit; set as own_
  // Facts of the stream. Bits, as a connection has no room; nobody writes them after the beginning.
  bool has_told_ends_ : 1 = false;  // by a proxy: then baton_extras_ have them from the beginning
  bool is_ip_ : 1 = false;
  cancel_state heard_;
  time_point active_at_{};                                 // loop: end of the last batch on the fast path
  std::unique_ptr<connection_settings> own_;               // changed by the loop while it has the baton
  std::unique_ptr<connection_loop_extras> extras_;         // loop
  std::unique_ptr<connection_baton_extras> baton_extras_;  // baton
  [[no_unique_address]] affinity_guard guard_;             // the baton's holder

 protected:
  connection_context(event_loop& loop, connection_host& host, handoff_constants constants) noexcept;
  ~connection_context();

 private:
  [[nodiscard]] const connection_ends* kept_ends() const noexcept;
  // Where there are extras, whose type this header does not know.
  [[nodiscard]] connection_deadlines* deadlines_of_extras() const noexcept;
};

/// The reason why a connection must end, or none. Returned in registers, unlike error_code.
class [[nodiscard]] end_reason {
 public:
  constexpr end_reason() noexcept = default;
  /// A send has failed: the connection ends after the input that its peer has sent.
  static end_reason of_send(int error) noexcept {
    end_reason why(system_error_code(error));
    why.is_of_send_ = true;
    return why;
  }
  end_reason(const error_code& why) noexcept : value_(why.value()), category_(why ? &why.category() : nullptr) {}
  end_reason(errc why) noexcept : end_reason(error_code(why)) {}
  explicit operator bool() const noexcept { return category_ != nullptr; }
  [[nodiscard]] bool is_of_send() const noexcept { return is_of_send_; }
  [[nodiscard]] error_code code() const noexcept { return category_ ? error_code(value_, *category_) : error_code(); }

 private:
  int value_ = 0;
  bool is_of_send_ = false;
  const boost::system::error_category* category_ = nullptr;
};

inline error_code no_memory() noexcept { return make_error_code(boost::system::errc::not_enough_memory); }

}  // namespace quintet::detail
