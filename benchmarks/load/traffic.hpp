// SPDX-License-Identifier: BSL-1.0
// traffic.hpp: the kernel's counts of bytes and packets on the interface to the server.
#pragma once

#include "load/control.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace quintet::bench {

/// Counts of one interface since it came up, of all programs.
struct interface_counts {
  double received_bytes = 0, received_packets = 0;
  double sent_bytes = 0, sent_packets = 0;
};

/// Returns the interface's counts from the text of /proc/net/dev; nullopt if it is not listed.
std::optional<interface_counts> parse_net_dev(std::string_view text, std::string_view interface);
std::optional<interface_counts> read_interface(const std::string& name);

/// Returns the interface of packets to this address: "lo" for 127.0.0.1. Empty if unknown.
std::string interface_towards(const socket_address& to);

/// Returns the line speed in bytes a second each way; 0 if there is none or it is unknown.
double line_speed(const std::string& interface);

/// Returns the difference of two readings. lo receives what it sends, which counts once.
network_use use_between(std::string interface, const interface_counts& before, const interface_counts& after);

}  // namespace quintet::bench
