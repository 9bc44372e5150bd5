// SPDX-License-Identifier: BSL-1.0
// socket_options: the kernel memory of a connection's socket, and how the kernel finds out that its peer has vanished.
#pragma once

#include <algorithm>
#include <chrono>
#include <string_view>

namespace quintet {

/// Options of the sockets of connections, as `socket` in listener_settings and in connect_options. The kernel hands
/// those of a listening TCP socket down to its connections, at no cost for each.
struct socket_options {
  int send_buffer = 0;     ///< bytes of kernel memory for output; 0: the kernel decides, and grows it
  int receive_buffer = 0;  ///< the same for input that has not been received yet
  /// TCP only, ignored for a Unix socket: the kernel probes a connection that has been silent for so long
  /// (SO_KEEPALIVE). The connection ends when its peer answers no probe for as long again. Zero: no probes.
  std::chrono::seconds keep_alive{0};
  /// TCP only, ignored for a Unix socket: a connection ends when output has waited for so long, because the peer has
  /// not acknowledged it or its window is closed (TCP_USER_TIMEOUT). Zero: the system's limit, some 15 minutes for
  /// output that is not acknowledged, and none for a closed window.
  std::chrono::milliseconds user_timeout{0};

  static constexpr std::chrono::seconds longest_keep_alive{32'767};  // the kernel's limit
  static constexpr std::chrono::milliseconds longest_user_timeout = std::chrono::hours(24);
  static constexpr int keep_alive_probes = 4;

  /// [any thread] Time between two probes: unanswered ones take as long together as the silence before them.
  [[nodiscard]] constexpr std::chrono::seconds keep_alive_interval() const noexcept {
    return std::max(std::chrono::seconds(1), keep_alive / keep_alive_probes);
  }
  /// [any thread] Whether a buffer has a size of its own, so that no default replaces it.
  [[nodiscard]] constexpr bool has_buffers() const noexcept { return send_buffer > 0 || receive_buffer > 0; }
};

/// [any thread] Throws config_error. `prefix` comes before the names of options: "connecting.socket.".
void validate(const socket_options& options, std::string_view prefix);

}  // namespace quintet
