// SPDX-License-Identifier: BSL-1.0
// keep_alive: how the kernel finds out that the peer of a TCP connection has vanished.
#pragma once

#include "../../base/error.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace quintet {

/// Options of a TCP socket. A listening one hands them down to the connections that it accepts, at no cost for each.
struct keep_alive_settings {
  static constexpr std::chrono::seconds longest_idle{32'767};  // the kernel's limit
  static constexpr std::chrono::milliseconds longest_timeout = std::chrono::hours(24);
  static constexpr int probes = 4;

  /// SO_KEEPALIVE: how long a connection is silent before the first probe. Zero: no probes.
  std::chrono::seconds keep_alive{0};
  /// TCP_USER_TIMEOUT. Zero: the system's limit.
  std::chrono::milliseconds user_timeout{0};

  /// Between two probes: unanswered ones take as long together as the silence before them.
  [[nodiscard]] std::chrono::seconds interval() const noexcept {
    return std::max(std::chrono::seconds(1), keep_alive / probes);
  }
  [[nodiscard]] bool is_on() const noexcept { return keep_alive.count() > 0 || user_timeout.count() > 0; }
};

/// Throws config_error. `owner` names the options: "127.0.0.1:80: ".
void validate(const keep_alive_settings& settings, const std::string& owner);

}  // namespace quintet
