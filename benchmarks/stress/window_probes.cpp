// SPDX-License-Identifier: BSL-1.0
// window_probes.cpp: /proc/net/netstat.
#include "stress/window_probes.hpp"

#include "input_file.hpp"

#include <sstream>
#include <string>

namespace quintet::bench {

std::optional<double> parse_netstat(std::string_view text, std::string_view group, std::string_view counter) {
  std::istringstream lines{std::string(text)};
  for (std::string names, values; std::getline(lines, names) && std::getline(lines, values);) {
    std::istringstream name(names), value(values);
    std::string n, v;
    if (!(name >> n) || !(value >> v) || n != std::string(group) + ':') continue;
    double count = 0;
    while (name >> n && value >> count)
      if (n == counter) return count;
  }
  return std::nullopt;
}

std::optional<double> window_probes() {
  return parse_netstat(read_if_possible("/proc/net/netstat"), "TcpExt", "TCPWinProbe");
}

}  // namespace quintet::bench
