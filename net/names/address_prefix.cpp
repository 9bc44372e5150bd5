// SPDX-License-Identifier: BSL-1.0
// address_prefix: parses strictly, and compares bit by bit.
#include "address_prefix.hpp"

#include "../../base/error.hpp"

#include <charconv>
#include <span>
#include <string>

namespace quintet {
namespace {

bool bit(std::span<const unsigned char> octets, unsigned at) noexcept {
  return (octets[at / 8] >> (7 - at % 8) & 1U) != 0;
}

}  // namespace

address_prefix::address_prefix(std::string_view text) try { parse(text); } catch (const config_error& why) {
  throw config_error("network '" + std::string(text) + "' is invalid: " + why.what() +
                     "; it must be 10.0.0.0/8, fd00::/8, an IP address, or unix:");
}

void address_prefix::parse(std::string_view text) {
  if (text == "unix:") return;
  const std::string_view host = text.substr(0, text.find('/'));
  first_ = address(join_address(host, 0));
  const auto all = static_cast<unsigned>(first_.octets().size() * 8);
  bits_ = all;
  if (host.size() != text.size()) {
    const std::string_view digits = text.substr(host.size() + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits_);
    if (error != std::errc() || end != digits.data() + digits.size() || bits_ > all)
      throw config_error("its length is not a number from 0 to " + std::to_string(all));
  }
  for (unsigned i = bits_; i < all; ++i)
    if (bit(first_.octets(), i)) throw config_error("it has bits behind the first " + std::to_string(bits_));
}

bool address_prefix::contains(const address& a) const noexcept {
  if (first_.type() != a.type()) return a.is_unix() && first_.type() == address::kind::none;
  for (unsigned i = 0; i < bits_; ++i)
    if (bit(first_.octets(), i) != bit(a.octets(), i)) return false;
  return true;
}

}  // namespace quintet
