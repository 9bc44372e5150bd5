// SPDX-License-Identifier: BSL-1.0
// attack.hpp: hostile peers against a server that is already running, whoever wrote it, beside an innocent client.
#pragma once

#include "load/control.hpp"
#include "options.hpp"
#include "stress/dialect.hpp"
#include "stress/findings.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace quintet::bench {

struct attack_settings {
  std::string server;  ///< as the user gave it; empty: no attack
  socket_address target;
  const dialect* speaks = nullptr;  ///< what the server understands
  bool allow_remote = false;
  std::optional<unsigned> peers;                              ///< otherwise as many as the attack has by default
  std::chrono::nanoseconds window{};                          ///< length of each attack
  std::chrono::milliseconds bound = std::chrono::seconds(1);  ///< within which the innocent client wants its answers
  std::function<void()> check = [] {};  ///< called every few milliseconds; throws to end everything at once
};

struct hostile_peer;

/// What the peers of one attack do. A peer acts when it is connected and then, while it stays, after each interval.
struct attack {
  std::string_view name, help;
  unsigned default_peers;
  bool reads;                                  ///< what the server sends; others leave it in the kernel
  std::chrono::milliseconds interval;          ///< 0: acts once
  bool (*act)(hostile_peer&, const dialect&);  ///< false: the peer resets its connection, and another one comes
};

/// An attack opens no more connections than its peers times this.
constexpr unsigned most_visits = 50;
constexpr unsigned most_hostile_peers = 10'000;

extern const std::array<attack, 7> attacks;

/// Throws usage_error.
const attack& require_attack(std::string_view name);

/// Resolves `where` and looks whether it may be attacked: without `allow_remote` only addresses of the loopback
/// interface may. Throws usage_error.
socket_address require_target(const std::string& where, bool allow_remote);

/// Never throws for what the server does wrong: that is a failure in the findings. Throws what `check` throws.
findings perform(const attack&, const attack_settings&);

}  // namespace quintet::bench
