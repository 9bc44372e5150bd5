// SPDX-License-Identifier: BSL-1.0
// traffic.hpp: what the kernel counts on the way to the server: bytes and packets of a network interface.
#pragma once

#include "load/control.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace quintet::bench {

/// Of one interface, since it came up, all programs together.
struct interface_counts {
  double received_bytes = 0, received_packets = 0;
  double sent_bytes = 0, sent_packets = 0;
};

/// What /proc/net/dev says of this interface; nothing where it is not there.
std::optional<interface_counts> parse_net_dev(std::string_view text, std::string_view interface);
std::optional<interface_counts> read_interface(const std::string& name);

/// Whose address packets to there leave with: "lo" for 127.0.0.1. Empty where that cannot be told.
std::string interface_towards(const socket_address& to);

/// Of the line, in bytes a second each way; 0: it has none, or does not tell.
double line_speed(const std::string& interface);

/// Between two readings. What lo sends it also receives, and it counts once.
struct traffic {
  traffic(std::string name, const interface_counts& before, const interface_counts& after);
  std::string interface;
  double bytes, packets;
  double busier_way_bytes;  ///< the more of sent and received
};

}  // namespace quintet::bench
