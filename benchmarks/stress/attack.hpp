// SPDX-License-Identifier: BSL-1.0
// attack.hpp: hostile peers against any running server, beside an innocent client.
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
  const dialect* speaks = nullptr;  ///< the server's protocol
  bool allow_remote = false;
  std::optional<unsigned> peers;                              ///< number of peers; unset: the attack's default
  std::chrono::nanoseconds window{};                          ///< length of each attack
  std::chrono::milliseconds bound = std::chrono::seconds(1);  ///< the innocent client's limit for a reply
  std::function<void()> check = [] {};  ///< called every few milliseconds; throws to end everything at once
};

struct hostile_peer;

/// The behaviour of an attack's peers. A peer acts when it is connected and then, while it stays, after each interval.
struct attack {
  std::string_view name, help;
  unsigned default_peers;
  bool reads;                                  ///< whether the peers read replies; others leave them in the kernel
  std::chrono::milliseconds interval;          ///< 0: acts once
  bool (*act)(hostile_peer&, const dialect&);  ///< false: the peer resets its connection, and another one comes
};

/// An attack opens at most this number of connections per peer.
constexpr unsigned max_connections_per_peer = 50;
constexpr unsigned most_hostile_peers = 10'000;

extern const std::array<attack, 7> attacks;

/// Throws usage_error.
const attack& require_attack(std::string_view name);

/// Resolves `where` and checks whether it may be attacked. Without
/// `allow_remote` only loopback addresses may. Throws usage_error.
socket_address require_target(const std::string& where, bool allow_remote);

/// Performs an attack. A fault of the server is a failure in
/// the findings, not an exception. Throws what `check` throws.
findings perform(const attack&, const attack_settings&);

}  // namespace quintet::bench
