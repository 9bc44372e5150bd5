// SPDX-License-Identifier: BSL-1.0
// bottleneck.hpp: what a run could not go beyond, by how busy each part was.
#pragma once

#include <optional>
#include <string_view>

namespace quintet::bench {

/// Busy at more than this, a CPU or a thread has nothing left to give: the rest are moments at the window's edges.
constexpr double at_its_limit = 0.95;

/// As fractions of 1; nothing: not known.
struct strain {
  std::optional<double> client, server;  ///< of the client's threads; of the server's (strain_of())
  std::optional<double> machine;         ///< of all CPUs, whoever used them
  std::optional<double> network;         ///< of what the line can carry; lo has no such limit, its work is CPU time
  std::optional<double> disk;            ///< of the time, in which all that had something to do waited for one
};

/// "client_cpu", "server_cpu", "machine_cpu", "network", "disk", "none"; nothing where that cannot be told.
constexpr std::optional<std::string_view> bottleneck_of(const strain& s) {
  const auto exhausted = [](const std::optional<double>& part) { return part.value_or(0) > at_its_limit; };
  if (exhausted(s.network)) return "network";
  if (exhausted(s.disk)) return "disk";
  if (exhausted(s.client)) return "client_cpu";  // before the server: beside another client that might do more
  if (exhausted(s.server)) return "server_cpu";
  if (exhausted(s.machine)) return "machine_cpu";
  if (!s.server || !s.client) return std::nullopt;
  return "none";
}

/// "client CPU"
constexpr std::string_view bottleneck_title(std::string_view name) {
  if (name == "client_cpu") return "client CPU";
  if (name == "server_cpu") return "server CPU";
  if (name == "machine_cpu") return "CPU of the machine";
  return name;
}

}  // namespace quintet::bench
