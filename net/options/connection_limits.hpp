// SPDX-License-Identifier: BSL-1.0
// connection_limits: how much one connection may hold, and how long it may take.
#pragma once

#include "../../base/clock.hpp"

#include <cstddef>

namespace quintet {

/// What happens while more output waits than `high_watermark`, because the peer does not read as fast as it is
/// written to.
enum class overflow_policy {
  pause,  ///< no more input is looked at until the output is below the low watermark: for requests and replies
  drop,   ///< what is written is dropped, silently but counted: for news that the next news replaces
  error,  ///< write() returns false, send() returns errc::output_full, and nothing of that message is sent
  close,  ///< the connection is closed with errc::output_full: for subscribers that must not miss anything
};

/// Defaults for all connections of a server, in its options; for one connection see connection::set_limits().
/// A time of zero is no limit.
struct connection_limits {
  std::size_t max_input = 64 * 1024 * 1024;    ///< unused input kept; more: errc::message_too_big
  std::size_t max_output = 256 * 1024 * 1024;  ///< output waiting to be sent; more: errc::output_overflow
  std::size_t high_watermark = 1024 * 1024;    ///< waiting output above which `full` begins
  std::size_t low_watermark = 512 * 1024;      ///< and at which it ends
  overflow_policy overflow = overflow_policy::pause;

  duration first_byte_timeout{};  ///< from the beginning to the first byte; then errc::first_byte_timeout
  /// No byte received, none taken by the kernel, and no handler at work; then errc::idle_timeout. While output waits it
  /// counts only bytes that are taken, and only where there is no send_timeout.
  duration idle_timeout{};
  duration send_timeout{};  ///< output waits and the kernel takes none of it; then errc::send_timeout
  /// From the first byte of a message to its last, and in addition the time that its bytes may take at
  /// `min_receive_rate`, but never longer without a byte; then errc::message_timeout. A message goes on while a
  /// callback leaves input unused or calls connection::mark_incomplete(); a coroutine's until read_message(),
  /// read_until() or read_exactly() returns it, or the coroutine writes. The time in which a handler of a pool is at
  /// work, or the server does not look at input, does not count.
  duration message_timeout{};
  std::size_t min_receive_rate = 0;  ///< bytes per second, added to message_timeout; 0: adds no time

  /// After close(), when everything has been sent: for the peer to read it, and to close. Zero: the connection is
  /// closed at once. That saves two system calls, but what the peer sends from then on resets the connection, which may
  /// destroy what it has not read yet: for protocols in which it sends nothing more.
  duration linger_timeout = std::chrono::seconds(1);

  /// For how long output may wait while the kernel takes none of it; duration::max(): for ever.
  [[nodiscard]] duration longest_send() const noexcept {
    const duration longest = send_timeout > duration{} ? send_timeout : idle_timeout;
    return longest > duration{} ? longest : duration::max();
  }
  [[nodiscard]] bool timed() const noexcept {
    return first_byte_timeout > duration{} || idle_timeout > duration{} || send_timeout > duration{} ||
           message_timeout > duration{};
  }
};

/// Throws config_error.
void validate(const connection_limits& limits);

}  // namespace quintet
