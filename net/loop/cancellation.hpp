// SPDX-License-Identifier: BSL-1.0
// cancellation: why the work for a connection is no longer wanted: one word, written by its loop, read where it works.
#pragma once

#include "../../base/error.hpp"

#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace quintet {

/// What a connection's loop has heard. cancel_state::end_request() forgets slow_reader, failed and cancelled, and of a
/// coroutine peer_reset; a deadline ends with its scope, and the others last.
enum class cancel_reason : std::uint8_t {
  none,
  stopped,         ///< the loop stops, by stop()
  drain_deadline,  ///< the loop stops, at the end of drain(within)
  aborted,         ///< connection_registry::abort()
  drain,           ///< the server drains. Cancels only if asked for
  peer_finished,   ///< the peer sends no more: it has gone, or half-closed. Cancels only if asked for
  peer_reset,      ///< the peer has reset the connection, or can receive no more
  slow_reader,     ///< output has waited for `send_timeout`
  failed,          ///< the connection has ended for another reason, such as a limit
  cancelled,       ///< connection_registry::cancel(): the request is cancelled, the connection lives
  deadline,        ///< the time of stream::with_deadline() has passed
};

/// [any thread] Returns the error of an operation that was cancelled for this reason.
[[nodiscard]] error_code error_of(cancel_reason why) noexcept;

/// Several reasons.
class cancel_reasons {
 public:
  constexpr cancel_reasons() noexcept = default;
  constexpr cancel_reasons(std::initializer_list<cancel_reason> all) noexcept {
    for (const cancel_reason why : all) bits_ |= bit(why);
  }
  constexpr cancel_reasons(cancel_reason one) noexcept : bits_(bit(one)) {}
  [[nodiscard]] constexpr bool has(cancel_reason why) const noexcept { return (bits_ & bit(why)) != 0; }
  /// `default_cancel_reasons | cancel_reason::peer_finished`
  friend constexpr cancel_reasons operator|(cancel_reasons a, cancel_reasons b) noexcept {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  friend class cancel_state;
  [[nodiscard]] static constexpr std::uint32_t bit(cancel_reason why) noexcept {
    return 1U << static_cast<unsigned>(why);
  }
  std::uint32_t bits_ = 0;
};

/// The reasons that cancel by default: all but `drain` and `peer_finished`.
inline constexpr cancel_reasons default_cancel_reasons{cancel_reason::peer_reset, cancel_reason::slow_reader,
                                                       cancel_reason::failed, cancel_reason::cancelled,
                                                       cancel_reason::deadline};

/// The word. Bits 0 and 31 are computed from the others at each change, so that a question is one load and one test.
/// Changes are rare; the loop and the holder of the baton make them.
class cancel_state {
 public:
  /// [any thread] Returns whether a reason cancels.
  [[nodiscard]] bool is_cancelled() const noexcept { return (load() & cancels) != 0; }
  /// [any thread] Returns whether nobody waits for the result of work that has not begun: the connection has ended, or
  /// its peer is gone in the sense of connection::cancel_on().
  [[nodiscard]] bool is_abandoned() const noexcept { return (load() & abandoned) != 0; }
  [[nodiscard]] bool has(cancel_reason why) const noexcept { return (load() & cancel_reasons::bit(why)) != 0; }
  /// [any thread] Returns the first reason that cancels, in the order of the enumerators.
  [[nodiscard]] cancel_reason why() const noexcept;

  /// [loop] Adds a reason.
  void tell(cancel_reason why) noexcept { change(cancel_reasons::bit(why), 0); }
  void take_back(cancel_reason why) noexcept { change(0, cancel_reasons::bit(why)); }
  /// [loop, baton] The handler has learned of what concerned its request, or has ended it. `awaits`: the handler is a
  /// coroutine. A reset would cancel what it awaits for input that has arrived before: the reset is forgotten, unless
  /// cancel_on() asks for peer_finished.
  void end_request(bool awaits) noexcept;
  /// [baton] Chooses the reasons that cancel. stopped, drain_deadline and aborted always do.
  void cancel_on(cancel_reasons these) noexcept;
  /// Takes over the state of the object that had the connection before.
  void take_from(const cancel_state& other) noexcept { word_.store(other.load(), std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t cancels = 1, asked_shift = 16;
  /// A peer that sends no more is gone.
  static constexpr std::uint32_t fin_means_gone = cancel_reasons::bit(cancel_reason::peer_finished) << asked_shift;
  // The bit of cancel_reason::none is free for `cancels`; `abandoned` is the highest.
  static constexpr std::uint32_t abandoned = 1U << 31U;
  [[nodiscard]] std::uint32_t load() const noexcept { return word_.load(std::memory_order_acquire); }
  void change(std::uint32_t added, std::uint32_t removed) noexcept;
  [[nodiscard]] static std::uint32_t cancelling(std::uint32_t word) noexcept;

  std::atomic<std::uint32_t> word_{default_cancel_reasons.bits_ << asked_shift};
};

/// A view of a connection's reasons, for its handler and for the functions of offload(). Looking costs two instructions
/// and no call: `for (...) if (token) return;`.
///
/// Where handlers run on the loop (and in thread_per_connection) the loop hears nothing while a callback or a function
/// of offload() runs there. connection::look_for_end() asks the system instead.
class cancel_token {
 public:
  explicit cancel_token(const cancel_state& of) noexcept : state_(&of) {}
  /// [baton] Returns whether the work is cancelled. Also from the function of offload(), on any thread.
  explicit operator bool() const noexcept { return state_->is_cancelled(); }
  /// [baton] Returns the reason; `none`: it is not cancelled.
  [[nodiscard]] cancel_reason why() const noexcept { return state_->why(); }
  /// [baton] Returns whether the loop has heard this, also if it does not cancel.
  [[nodiscard]] bool has(cancel_reason what) const noexcept { return state_->has(what); }

 private:
  const cancel_state* state_;
};

}  // namespace quintet
