// SPDX-License-Identifier: BSL-1.0
// connection_deadlines: when a connection has been too slow. Notes times; the timer that looks at them is another's.
#pragma once

#include <quintet/base/clock.hpp>
#include <quintet/base/error.hpp>
#include <quintet/net/connection_limits.hpp>

#include <cstddef>

namespace quintet {

/// Exists only for connections with a time limit. Pushing a deadline back is a store: the timer that was started for
/// the old one finds, when it fires, that there is time left (doc/decisions/0005-timers.md).
class connection_deadlines {
 public:
  explicit connection_deadlines(time_point now) noexcept : opened_(now), last_active_(now), send_progress_(now) {}

  void received(std::size_t count, time_point now) noexcept {
    any_received_ = true;
    last_active_ = now;
    if (message_since_ == never) message_since_ = now;
    message_bytes_ += count;
  }
  /// The handler is done with a batch: whether it got on, and how much input is left over.
  void batch_ended(bool got_on, std::size_t unused, time_point now) noexcept {
    last_active_ = now;
    if (!got_on && unused > 0) {
      if (message_since_ == never) message_since_ = now;  // it had come while the batch before was under way
      return;
    }
    message_since_ = unused > 0 ? now : never;
    message_bytes_ = unused;
  }
  /// A coroutine keeps what it has not used yet to itself: only when it answers is it known to have got on.
  void answered() noexcept {
    message_since_ = never;
    message_bytes_ = 0;
  }
  /// Output begins to wait, or some of it has been taken.
  void sending(time_point now) noexcept { last_active_ = send_progress_ = now; }

  struct deadline {
    time_point when = time_point::max();
    errc why = errc::idle_timeout;
  };
  /// The earliest, given what the connection does now. `at_rest`: no handler is at work.
  [[nodiscard]] deadline next(const connection_limits& limits, bool at_rest, bool output_waits) const noexcept;

 private:
  static constexpr time_point never = time_point::max();

  time_point opened_, last_active_, send_progress_;
  time_point message_since_ = never;
  std::size_t message_bytes_ = 0;
  bool any_received_ = false;
};

}  // namespace quintet
