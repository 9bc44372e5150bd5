// SPDX-License-Identifier: BSL-1.0
// limits: how many connections there may be, how much memory they may hold, here and in the kernel, and how long one
// may take.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../names/address.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace quintet {

namespace detail {
/// 4 GiB, or all that a 32-bit process can address.
inline constexpr std::size_t four_gib =
    static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{4} << 30U, std::numeric_limits<std::size_t>::max()));
}  // namespace detail

/// Selects the reaction to more queued output than `high_watermark`, because the peer reads too slowly.
enum class overflow_policy {
  pause,  ///< input is not processed until the output is below the low watermark: for requests and replies
  drop,   ///< written data is dropped and counted, without an error: for updates that the next update replaces
  error,  ///< write() returns false, send() returns errc::output_full, and nothing of that message is sent
  close,  ///< the connection is closed with errc::output_full: for subscribers that must not miss anything
};

/// Default limits of each connection of a server or a client; connection::set_limits() changes one connection's.
/// A time of zero is no limit.
struct connection_limits {
  std::size_t max_input = 64 * 1024 * 1024;    ///< unused input kept; more: errc::message_too_big
  std::size_t max_output = 256 * 1024 * 1024;  ///< output waiting to be sent; more: errc::output_overflow
  /// Output above which `overflow` applies. write() and send() count what the handler has written and not yet queued;
  /// for `pause` and `close` the queue alone counts.
  std::size_t high_watermark = 1024 * 1024;
  std::size_t low_watermark = 512 * 1024;  ///< queued output at or below which that ends
  overflow_policy overflow = overflow_policy::pause;
  /// Bytes. Shared data of fewer bytes is copied, so that it leaves merged with its neighbours. Longer data leaves from
  /// where it is, as a piece of its own in the same send. 1: never copied.
  std::size_t merge_threshold = 4 * 1024;

  duration first_byte_timeout{};  ///< from opening to the first byte; then errc::first_byte_timeout
  /// No byte received, no byte accepted by the kernel, and no running handler; then errc::idle_timeout. While output
  /// waits, only bytes that the peer has acknowledged count; a send_timeout, if set, applies instead.
  duration idle_timeout{};
  /// Output waits and the peer acknowledges none of it; then errc::send_timeout, at most an eighth later.
  duration send_timeout{};
  /// From the first byte of a message to its last, plus the time of its bytes at `min_receive_rate`; then
  /// errc::message_timeout. The wait between two bytes never exceeds this time. A callback's message continues while it
  /// leaves input unused or calls connection::mark_incomplete(). A coroutine's message ends when read_message(),
  /// read_until() or read_exactly() returns it, or the coroutine writes. The time does not count while a pool runs the
  /// handler, or the server does not process input.
  duration message_timeout{};
  std::size_t min_receive_rate = 0;  ///< bytes per second, added to message_timeout; 0: adds no time

  /// After close(), once all output has been sent: the time for the peer to read it and to close. Also the longest
  /// silence of a peer to which no more can be sent, and whose input is still executed. Zero closes at once,
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

/// Limits of the connections from ordinary listeners. The priority loop has its own limit,
/// priority_options::max_connections.
struct accept_limits {
  /// Open connections. At the limit the server stops accepting until one has closed. Meanwhile new connections wait in
  /// the listener's backlog and are not refused. 0: no limit.
  std::size_t max_connections = 0;
  /// At max_connections refuses a new connection with errc::too_many_connections instead, so that on_refused can tell
  /// its peer.
  bool refuse_when_full = false;
  /// Open connections from one IPv4 address or one IPv6 network of 64 bits. One more is accepted, closed at once, and
  /// counted as refused. Unix peers have no address. 0: no limit.
  std::size_t max_connections_per_address = 0;
  /// Connections accepted per second; the others wait in the backlog. 0: no limit.
  unsigned accept_rate = 0;
  /// Connections accepted at once after a quiet time. 0: the connections of one second at accept_rate.
  unsigned accept_burst = 0;
  /// [loop] The accepting loop calls it for each refused connection. Several loops call it concurrently if several
  /// accept (see accept_strategy). It must not block; exceptions are ignored. The peer gets the bytes that it returns,
  /// at most 4 KiB of them, then the end; it has a second to read them. Nobody gets bytes through a transport (shared
  /// memory, a filter), nor on one loop more than 64 peers at once. Reasons: errc::too_many_connections,
  /// errc::too_many_from_address, errc::untrusted_proxy, errc::malformed_proxy_header, errc::missing_proxy_header,
  /// errc::too_many_threads (model 1), EACCES by may_connect, the system's error when it refuses to start a thread or
  /// has no memory, and errc::not_placed for other exceptions of a thread model.
  std::function<std::string(error_code reason, const address& from)> on_refused = {};
};

/// Options of a connection's socket: `socket` in listener_settings and in connect_options. Connections inherit those of
/// a listening TCP socket, which costs no system call for each.
struct socket_options {
  int send_buffer = 0;     ///< bytes of kernel memory for output; 0: the kernel chooses, and grows it
  int receive_buffer = 0;  ///< bytes of kernel memory for input that the loop has not received; 0: the same
  /// TCP only, ignored for Unix sockets: the kernel probes a connection that has been silent for this time
  /// (SO_KEEPALIVE). The connection ends when its peer answers no probe for the same time again. Zero: no probes.
  std::chrono::seconds keep_alive{0};
  /// TCP only, ignored for Unix sockets: a connection ends when output has waited for this time, because the peer does
  /// not acknowledge it or has closed its window (TCP_USER_TIMEOUT). Zero: the system's limit, some 15 minutes for
  /// output that is not acknowledged, and none for a closed window.
  std::chrono::milliseconds user_timeout{0};

  static constexpr std::chrono::seconds longest_keep_alive{32'767};                          ///< the kernel's limit
  static constexpr std::chrono::milliseconds longest_user_timeout = std::chrono::hours(24);  ///< allowed here
  static constexpr int keep_alive_probes = 4;  ///< unanswered ones end the connection

  /// [any thread] Returns the time between two probes: keep_alive_probes of them take keep_alive together.
  [[nodiscard]] constexpr std::chrono::seconds keep_alive_interval() const noexcept {
    return std::max(std::chrono::seconds(1), keep_alive / keep_alive_probes);
  }
  /// [any thread] Returns whether a buffer has a given size, which no default replaces.
  [[nodiscard]] constexpr bool has_buffers() const noexcept { return send_buffer > 0 || receive_buffer > 0; }
};

/// Limits of all connections of a server or a client together.
struct memory_limits {
  /// Bytes of output that wait in all connections. A connection that would exceed this sum ends with
  /// errc::output_overflow, unless its own output stays within its share of a reserve. The reserve is a quarter of the
  /// limit; the open connections share it equally.
  std::size_t max_output_total = detail::four_gib;
  /// The same for unused input. Only connections that keep more than 64 KiB count; then errc::input_overflow.
  std::size_t max_input_total = detail::four_gib;
  /// A connection that opens while at least this many are open gets bounded socket buffers. Otherwise the kernel grows
  /// the buffers of a peer that never reads to more than 4 MiB. Sizes in socket_options take precedence.
  std::size_t tuned_sockets = 64;
  static constexpr int bounded_socket_buffer = 64 * 1024;  ///< bytes of each of the two buffers

  /// [any thread] Returns the buffers of a connection that opens beyond tuned_sockets.
  [[nodiscard]] static constexpr socket_options bounded_buffers() noexcept {
    return {.send_buffer = bounded_socket_buffer, .receive_buffer = bounded_socket_buffer};
  }
};

/// [any thread] Throw config_error.
void validate(const connection_limits& limits);
void validate(const accept_limits& limits);
/// [any thread] The same. Texts have `prefix` before the names of options: "connecting.socket.".
void validate(const socket_options& options, std::string_view prefix);

}  // namespace quintet
