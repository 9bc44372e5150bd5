// SPDX-License-Identifier: BSL-1.0
// bus_peers: reads numbers and addresses.
#include "common/bus_peers.hpp"

#include <quintet/base/error.hpp>

#include <charconv>
#include <sstream>
#include <system_error>

namespace example {

std::map<std::uint64_t, std::string> bus_peers_from(const std::string& text, const std::string& option) {
  const auto require = [&option](bool holds, const std::string& what) {
    if (!holds) throw quintet::config_error(option + " has " + what);
  };
  std::map<std::uint64_t, std::string> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) {
    std::uint64_t id = 0;
    const char* const end = one.data() + one.size();
    const auto [rest, error] = std::from_chars(one.data(), end, id);
    require(error == std::errc() && id != 0 && rest != end && *rest == '=', "'" + one + "'; each must be ID=ADDRESS");
    require(all.emplace(id, rest + 1).second, "node " + std::to_string(id) + " twice");
  }
  return all;
}

}  // namespace example
