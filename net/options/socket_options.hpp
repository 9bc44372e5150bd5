// SPDX-License-Identifier: BSL-1.0
// socket_options: kernel buffers of a connection's socket, and how the kernel detects that its peer has vanished.
#pragma once

#include <algorithm>
#include <chrono>
#include <string_view>

namespace quintet {

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

  static constexpr std::chrono::seconds longest_keep_alive{32'767};  // the kernel's limit
  static constexpr std::chrono::milliseconds longest_user_timeout = std::chrono::hours(24);
  static constexpr int keep_alive_probes = 4;

  /// [any thread] Returns the time between two probes: keep_alive_probes of them take keep_alive together.
  [[nodiscard]] constexpr std::chrono::seconds keep_alive_interval() const noexcept {
    return std::max(std::chrono::seconds(1), keep_alive / keep_alive_probes);
  }
  /// [any thread] Returns whether a buffer has a given size, which no default replaces.
  [[nodiscard]] constexpr bool has_buffers() const noexcept { return send_buffer > 0 || receive_buffer > 0; }
};

/// [any thread] Throws config_error. Texts have `prefix` before the names of options: "connecting.socket.".
void validate(const socket_options& options, std::string_view prefix);

}  // namespace quintet
