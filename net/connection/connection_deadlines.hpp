// SPDX-License-Identifier: BSL-1.0
// connection_deadlines: records the activity of a connection and computes its deadlines.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../engine/channel.hpp"
#include "../options/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace quintet {

/// Exists only for connections with a time limit. Moving a deadline back is one store: the old timer fires and finds
/// time left (doc/decisions/0005-timers.md). Only this class decides which activity counts for which limit (table:
/// doc/limits.md).
class connection_deadlines {
 public:
  connection_deadlines(time_point now, bool output_waits, bool any_received) noexcept
      : opened_(now),
        last_active_(now),
        last_received_(now),
        send_progress_(now),
        any_received_(any_received),
        output_waits_(output_waits) {}

  /// Records that bytes have arrived from the peer.
  void received(std::size_t count, time_point now) noexcept {
    any_received_ = true;
    last_active_ = last_received_ = now;
    at_doubt_.delivered += count;
    message_bytes_ += count;
    if (message_since_ == never && held_since_ == never) message_since_ = now;
  }
  /// Records that something happened at a time that may lie before what is known.
  void was_active(time_point at) noexcept { last_active_ = std::max(last_active_, at); }
  /// Return and set the last activity: where the end of a batch was none.
  [[nodiscard]] time_point last_active() const noexcept { return last_active_; }
  void set_last_active(time_point at) noexcept { last_active_ = at; }
  /// Records that the kernel has taken bytes for the peer, whoever wrote them. That is activity. It is no progress of
  /// the peer's: the kernel may have had room.
  void sent(std::size_t count, time_point now) noexcept;
  /// Records how many of these bytes the peer has not taken. Bytes taken since the last sample are its progress. A
  /// peer that has taken all waits for the server.
  void sample_progress(std::size_t unsent, time_point now) noexcept;
  [[nodiscard]] bool output_waits() const noexcept { return output_waits_; }
  /// Records whether output waits; more output is no progress of the peer. Returns true when it begins to wait.
  bool output(bool waits, time_point now) noexcept;

  /// Records that a send has failed: from now on linger_timeout limits the peer's silence, whatever this side does.
  void sending_failed(time_point now) noexcept {
    send_failed_ = true;
    last_active_ = last_received_ = now;
  }

  struct batch {
    bool progressed;      ///< input was used (coroutine: a message was read or something written)
    bool incomplete;      ///< the used input ends within a message
    bool is_new_message;  ///< that message began in this batch, after the end of another
    std::size_t unused;   ///< bytes of input left
  };
  /// Records that the handler has finished a batch.
  void batch_ended(const batch& b, time_point now) noexcept {
    last_active_ = now;
    if (b.progressed && (b.is_new_message || !b.incomplete)) {
      message_bytes_ = b.unused;
      message_since_ = b.unused > 0 || b.incomplete ? now : never;
    } else if (message_bytes_ > 0 && message_since_ == never) {
      message_since_ = now;  // it arrived during the previous batch, or during a hold
    }
  }
  /// Records the end of a batch that has answered all input, where no clock ran before it.
  void rest(time_point now) noexcept {
    last_active_ = now;
    held_since_ = never;
    answered();
  }
  /// Returns whether only the last activity counts: any further batch that uses all its input changes nothing else.
  [[nodiscard]] bool is_at_rest() const noexcept {
    return any_received_ && message_since_ == never && message_bytes_ == 0 && held_since_ == never && !send_failed_;
  }
  /// Stops or restarts the peer's clocks. Time in which the server ignores input, for instance while a handler runs,
  /// does not count.
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
  /// Moves every record of `since` or later to `now`: the loop read no clock in between.
  void catch_up(time_point since, time_point now) noexcept;
  /// Records that all arrived input was answered and no message has begun.
  void answered() noexcept {
    message_since_ = never;
    message_bytes_ = 0;
  }

  struct deadline {
    time_point when = time_point::max();
    errc why = errc::idle_timeout;
    bool operator<(const deadline& other) const noexcept { return when < other.when; }
  };
  /// Returns the earliest deadline of waiting output (`of_output`) or of input and idleness (`of_input`). `at_rest`: no
  /// handler is running.
  [[nodiscard]] deadline of_output(const connection_limits& limits, bool at_rest) const noexcept;
  [[nodiscard]] deadline of_input(const connection_limits& limits, bool at_rest) const noexcept;
  /// Returns the time between two samples of the peer's progress; duration::max(): none is needed.
  [[nodiscard]] static duration sample_interval(const connection_limits& limits) noexcept;
  /// Returns how long a send may wait for the peer: until the next sample or the deadline of output. If that has
  /// passed, the shortest pause: where a send waits, the loop takes the next sample when it ends.
  [[nodiscard]] duration longest_send(const connection_limits& limits, time_point now) const noexcept;
  /// Returns when to take a sample and check again: at the earliest deadline, and several times before one of output,
  /// so that the peer's progress has about the right time.
  [[nodiscard]] time_point next_sample(const connection_limits& limits, bool at_rest) const noexcept;
  /// Records that the deadline has expired. Returns true if it had already expired at the previous call; in between,
  /// the loop has received what had arrived. (Before, another connection's handler may have kept the loop from
  /// receiving.) Input: only if all of at_doubt() has been delivered.
  [[nodiscard]] bool confirm_output(const deadline& due, time_point now) noexcept {
    return due.when <= std::exchange(output_doubted_at_, now);
  }
  [[nodiscard]] bool confirm_input(const deadline& due, time_point now) noexcept {
    return due.when <= std::exchange(input_doubted_at_, now);
  }
  /// What had arrived when the deadline of input was doubted: after a confirm_input() that was false.
  [[nodiscard]] arrival& at_doubt() noexcept { return at_doubt_; }

 private:
  static constexpr time_point never = time_point::max();

  time_point opened_, last_active_, last_received_, send_progress_;
  time_point message_since_ = never;
  time_point held_since_ = never;
  time_point output_doubted_at_ = time_point::min(), input_doubted_at_ = time_point::min();
  time_point sampled_at_{};  // set when output begins to wait
  std::size_t message_bytes_ = 0;
  // Bytes: by the kernel, by the peer; only their differences matter. The first sample sets the second.
  std::int64_t given_ = 0, taken_ = std::numeric_limits<std::int64_t>::max();
  arrival at_doubt_;
  bool any_received_;
  bool output_waits_;
  bool send_failed_ = false;
};

}  // namespace quintet
