// SPDX-License-Identifier: BSL-1.0
// traffic.cpp: reads /proc/net/dev and finds the interface towards an address.
#include "load/traffic.hpp"

#include "input_file.hpp"
#include "load/connect.hpp"
#include "unique_fd.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace quintet::bench {
namespace {

bool same_host(const sockaddr* a, const sockaddr* b) {
  if (a == nullptr || a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(b)->sin_addr.s_addr;
  return a->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
}

std::string interface_with(const socket_address& own) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (same_host(one->ifa_addr, own.get())) return one->ifa_name;
  }
  return "";
}

/// The machine reaches its own addresses over lo.
bool is_own(const socket_address& address) { return !interface_with(address).empty(); }

}  // namespace

std::optional<interface_counts> parse_net_dev(std::string_view text, std::string_view interface) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    const auto first = line.find_first_not_of(' ');
    if (colon == line.npos || first > colon || line.substr(first, colon - first) != interface) continue;
    // Received: bytes packets errs drop fifo frame compressed multicast; sent: bytes packets and six more.
    std::istringstream fields(line.substr(colon + 1));
    interface_counts out;
    double skipped = 0;
    fields >> out.received_bytes >> out.received_packets;
    for (int field = 2; field < 8; ++field) fields >> skipped;
    if (fields >> out.sent_bytes >> out.sent_packets) return out;
  }
  return std::nullopt;
}

std::optional<interface_counts> read_interface(const std::string& name) {
  return parse_net_dev(read_if_possible("/proc/net/dev"), name);
}

// Connecting a datagram socket looks up the route without sending.
std::string interface_towards(const socket_address& to) {
  if (is_loopback_v4(to) || is_own(to)) return "lo";
  const unique_fd fd(::socket(to.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  socket_address own;
  own.length = sizeof own.storage;
  if (!fd || ::connect(fd.get(), to.get(), to.length) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0)
    return "";
  return interface_with(own);
}

double line_speed(const std::string& interface) {
  std::ifstream file("/sys/class/net/" + interface + "/speed");
  double megabits = 0;
  return file >> megabits && megabits > 0 ? megabits * 1e6 / 8 : 0;
}

network_use use_between(std::string interface, const interface_counts& before, const interface_counts& after) {
  const double in = after.received_bytes - before.received_bytes, out = after.sent_bytes - before.sent_bytes;
  const bool once = interface == "lo";
  return {.interface = std::move(interface),
          .bytes = in + (once ? 0 : out),
          .packets =
              after.received_packets - before.received_packets + (once ? 0 : after.sent_packets - before.sent_packets),
          .busier_way_bytes = std::max(in, out)};
}

}  // namespace quintet::bench
