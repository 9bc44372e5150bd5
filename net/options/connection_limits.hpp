// SPDX-License-Identifier: BSL-1.0
// connection_limits: how much one connection may hold, and how long it may take.
#pragma once

#include "../../base/clock.hpp"

#include <cstddef>

namespace quintet {

/// Selects the reaction to more queued output than `high_watermark`, because the peer reads too slowly.
enum class overflow_policy {
  pause,  ///< input is not processed until the output is below the low watermark: for requests and replies
  drop,   ///< written data is dropped and counted, without an error: for updates that the next update replaces
  error,  ///< write() returns false, send() returns errc::output_full, and nothing of that message is sent
  close,  ///< the connection is closed with errc::output_full: for subscribers that must not miss anything
};

/// Default limits of all connections of a server or a client; connection::set_limits() changes one connection's.
/// A time of zero is no limit.
struct connection_limits {
  std::size_t max_input = 64 * 1024 * 1024;    ///< unused input kept; more: errc::message_too_big
  std::size_t max_output = 256 * 1024 * 1024;  ///< output waiting to be sent; more: errc::output_overflow
  std::size_t high_watermark = 1024 * 1024;    ///< queued output above which `overflow` applies
  std::size_t low_watermark = 512 * 1024;      ///< queued output at or below which that ends
  overflow_policy overflow = overflow_policy::pause;

  duration first_byte_timeout{};  ///< from opening to the first byte; then errc::first_byte_timeout
  /// No byte received, no byte accepted by the kernel, and no running handler; then errc::idle_timeout. While output
  /// waits, only bytes accepted by the kernel count; a send_timeout, if set, applies instead.
  duration idle_timeout{};
  duration send_timeout{};  ///< output waits and the kernel accepts none; then errc::send_timeout
  /// From the first byte of a message to its last, plus the time of its bytes at `min_receive_rate`; then
  /// errc::message_timeout. The wait between two bytes never exceeds this time. A callback's message continues while it
  /// leaves input unused or calls connection::mark_incomplete(). A coroutine's message ends when read_message(),
  /// read_until() or read_exactly() returns it, or the coroutine writes. The time does not count while a pool runs the
  /// handler, or the server does not process input.
  duration message_timeout{};
  std::size_t min_receive_rate = 0;  ///< bytes per second, added to message_timeout; 0: adds no time

  /// After close(), once all output has been sent: the time for the peer to read it and to close. Zero closes at once,
  /// which saves two system calls. Any later byte from the peer then resets the connection and may destroy data the
  /// peer has not read. Use zero only if the peer sends nothing more.
  duration linger_timeout = std::chrono::seconds(1);

  /// Returns how long output may wait while the kernel accepts none of it; duration::max(): no limit.
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
