// SPDX-License-Identifier: BSL-1.0
// connection_deadlines: records the activity of a connection, and says when it has been too slow. The timer is the
// connection's own: connection_loop_extras.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../options/connection_limits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace quintet {

/// Exists only for connections with a time limit. Pushing a deadline back is a store: the timer that was started for
/// the old one finds, when it fires, that there is time left (doc/decisions/0005-timers.md). What counts as activity
/// for which limit is decided here and nowhere else (doc/connections.md has it as a table).
class connection_deadlines {
 public:
  connection_deadlines(time_point now, bool output_waits, bool any_received) noexcept
      : opened_(now),
        last_active_(now),
        last_received_(now),
        send_progress_(now),
        any_received_(any_received),
        output_waits_(output_waits) {}

  /// Bytes have arrived from the peer.
  void received(std::size_t count, time_point now) noexcept {
    any_received_ = true;
    last_active_ = last_received_ = now;
    unread_ -= std::min(unread_, count);
    message_bytes_ += count;
    if (message_since_ == never && held_since_ == never) message_since_ = now;
  }
  /// The kernel has taken bytes for the peer, whoever wrote them.
  void sent(time_point now) noexcept;
  /// There is output that waits, or none. More of it is no progress of the peer. True when it begins to wait.
  bool output(bool waits, time_point now) noexcept;

  struct batch {
    bool got_on;         ///< input was used (a coroutine: a message was read, or something written)
    bool incomplete;     ///< what was used is not the whole of a message,
    bool begun_anew;     ///< which has begun in this batch, after the end of another one
    std::size_t unused;  ///< bytes of input that are left
  };
  /// The handler is done with a batch.
  void batch_ended(const batch& b, time_point now) noexcept {
    last_active_ = now;
    if (b.got_on && (b.begun_anew || !b.incomplete)) {
      message_bytes_ = b.unused;
      message_since_ = b.unused > 0 || b.incomplete ? now : never;
    } else if (message_bytes_ > 0 && message_since_ == never) {
      message_since_ = now;  // it had come while the batch before was under way, or while nobody looked
    }
  }
  /// Whether the server looks at input at all. The time in which it does not, a handler's for instance, is not the
  /// peer's.
  void hold(bool holds, time_point now) noexcept {
    if (holds == (held_since_ != never)) return;
    if (!holds) {
      opened_ += now - std::max(held_since_, opened_);
      last_received_ += now - std::max(held_since_, last_received_);
      if (message_since_ != never)
        message_since_ += now - std::max(held_since_, message_since_);
      else if (message_bytes_ > 0)
        message_since_ = now;
    }
    held_since_ = holds ? now : never;
  }
  /// Moves every note of `since` or later to `now`: the loop did not look at the clock in between.
  void catch_up(time_point since, time_point now) noexcept;
  /// What has arrived was answered, and is no beginning of a message.
  void answered() noexcept {
    message_since_ = never;
    message_bytes_ = 0;
  }

  struct deadline {
    time_point when = time_point::max();
    errc why = errc::idle_timeout;
    bool operator<(const deadline& other) const noexcept { return when < other.when; }
  };
  /// Returns the earliest deadline of waiting output (`of_output`) or of input and idleness (`of_input`).
  /// `at_rest`: no handler is at work.
  [[nodiscard]] deadline of_output(const connection_limits& limits, bool at_rest) const noexcept;
  [[nodiscard]] deadline of_input(const connection_limits& limits, bool at_rest) const noexcept;
  [[nodiscard]] deadline next(const connection_limits& limits, bool at_rest) const noexcept {
    return std::min(of_output(limits, at_rest), of_input(limits, at_rest));
  }
  /// Records that the deadline has expired. Returns true if it had already expired at the previous call; in between,
  /// the loop has received what had arrived. (Before, another connection's handler may have kept the loop from
  /// receiving.) `unread`: number of bytes that have arrived and that the loop has not received yet.
  [[nodiscard]] bool confirm_output(const deadline& due, time_point now) noexcept {
    return due.when <= std::exchange(output_doubted_at_, now);
  }
  [[nodiscard]] bool confirm_input(const deadline& due, std::size_t unread, time_point now) noexcept {
    const bool again = due.when <= std::exchange(input_doubted_at_, now);
    unread_ = again ? std::min(unread_, unread) : unread;
    return again && unread_ == 0;
  }

 private:
  static constexpr time_point never = time_point::max();

  time_point opened_, last_active_, last_received_, send_progress_;
  time_point message_since_ = never;
  time_point held_since_ = never;
  time_point output_doubted_at_ = time_point::min(), input_doubted_at_ = time_point::min();
  std::size_t message_bytes_ = 0;
  std::size_t unread_ = 0;  // of what had arrived at input_doubted_at_
  bool any_received_;
  bool output_waits_;
};

}  // namespace quintet
