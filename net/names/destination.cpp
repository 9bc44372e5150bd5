// SPDX-License-Identifier: BSL-1.0
// destination: tells host names from addresses, and orders addresses.
#include "destination.hpp"

#include "../../base/error.hpp"

#include <algorithm>

namespace quintet {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_names(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}
/// Text of digits and dots only is a malformed IPv4 address, not a name.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, is_of_names) &&
         !std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

destination::destination(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view name = text.substr(0, colon);
  if (colon == text.npos && is_name(text))
    throw config_error("destination '" + std::string(text) + "' has no port; a host name needs one, as in '" +
                       std::string(text) + ":80'");
  if (colon == text.npos || !is_name(name) || text.starts_with("unix:")) {
    candidates_.emplace_back(text);
  } else {
    const address any("0.0.0.0:" + std::string(text.substr(colon + 1)));  // throws if the port is invalid
    host_ = name;
    port_ = std::to_string(any.port());
  }
  const bool unreachable =
      host_.empty() ? candidates_.front().is_ip() && candidates_.front().port() == 0 : port_ == "0";
  if (unreachable)
    throw config_error("destination '" + std::string(text) + "' has port 0; the port must be from 1 to 65535");
}

destination::destination(std::vector<address> candidates) : candidates_(std::move(candidates)) {
  if (candidates_.empty()) throw config_error("destination has no address; it must have at least one");
}

std::string destination::to_string() const {
  return host_.empty() ? candidates_.front().to_string() : host_ + ":" + port_;
}

std::vector<address> interleaved(const std::vector<address>& candidates) {
  if (candidates.empty()) return {};
  const auto family = candidates.front().type();
  auto same = candidates.begin(), other = candidates.begin();
  const auto next = [&](auto& at, bool of_family) {
    return at = std::find_if(at, candidates.end(), [&](const address& a) { return (a.type() == family) == of_family; });
  };
  std::vector<address> order;
  while (order.size() < candidates.size()) {
    if (next(same, true) != candidates.end()) order.push_back(*same++);
    if (next(other, false) != candidates.end()) order.push_back(*other++);
  }
  return order;
}

}  // namespace quintet
