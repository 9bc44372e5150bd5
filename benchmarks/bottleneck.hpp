// SPDX-License-Identifier: BSL-1.0
// bottleneck.hpp: which resource limited a run, judged by the utilization of each.
#pragma once

#include <optional>
#include <string_view>

namespace quintet::bench {

/// Utilization above which a CPU or thread counts as saturated. The remainder is idle time at the window's edges.
constexpr double at_its_limit = 0.95;

/// Utilization of each resource, as fractions of 1; nullopt: unknown.
struct utilization {
  std::optional<double> client, server;  ///< the client's threads; the server's threads (utilization_of())
  std::optional<double> machine;         ///< all CPUs, used by any process
  std::optional<double> network;         ///< the line's capacity; lo has no capacity limit, its work is CPU time
  std::optional<double> disk;            ///< time in which all non-idle tasks waited for a disk
};

/// Returns "client_cpu", "server_cpu", "machine_cpu", "network", "disk" or "none"; nullopt if nothing is known.
constexpr std::optional<std::string_view> bottleneck_of(const utilization& s) {
  const auto exhausted = [](const std::optional<double>& part) { return part.value_or(0) > at_its_limit; };
  if (exhausted(s.network)) return "network";
  if (exhausted(s.disk)) return "disk";
  if (exhausted(s.client)) return "client_cpu";  // before the server: another client might do more
  if (exhausted(s.server)) return "server_cpu";
  if (exhausted(s.machine)) return "machine_cpu";
  if (!s.server || !s.client) return std::nullopt;
  return "none";
}

/// Returns the name as readers see it: "client CPU".
constexpr std::string_view bottleneck_title(std::string_view name) {
  if (name == "client_cpu") return "client CPU";
  if (name == "server_cpu") return "server CPU";
  if (name == "machine_cpu") return "CPU of the machine";
  return name;
}

}  // namespace quintet::bench
