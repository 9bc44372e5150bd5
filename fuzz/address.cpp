// SPDX-License-Identifier: BSL-1.0
// address: any text is an address or refused; addresses of text and of the system survive the way there and back.
#include <quintet/net/names/address.hpp>

#include "fuzz.hpp"

#include <quintet/base/error.hpp>
#include <quintet/net/destination.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace quintet;
using fuzz::require;

template <class T>
std::optional<T> parsed(bytes text) {
  try {
    return T(std::string_view(text));
  } catch (const config_error& e) {
    require(std::strlen(e.what()) > 0, "a refusal has a text");
    return std::nullopt;
  }
}

void use(const address& a) {
  require(a.is_ip() == !a.host().empty(), "only addresses of IP have a host");
  require(a.is_ip() == a.network().has_value(), "only addresses of IP have a network");
  require(a.is_ip() || a.port() == 0, "only addresses of IP have a port");
  require(!a.is_ip() || a.path().empty(), "only sockets of Unix have a path");
  require(a == address(a.data(), a.size()) || a.type() == address::kind::ipv6, "the system's form is the address");
}

void check_text(bytes text) {
  if (const auto a = parsed<address>(text)) {
    use(*a);
    const auto again = parsed<address>(a->to_string());
    require(again && *again == *a && again->type() == a->type(), "an address survives as text");
  }
  if (const auto d = parsed<destination>(text)) {
    const auto again = parsed<destination>(d->to_string());
    require(again && again->to_string() == d->to_string(), "a destination survives as text");
    require(again->candidates() == d->candidates() && again->host() == d->host(), "a destination keeps its kind");
  }
}

void check_system_form(bytes form) {
  const auto size = std::min(form.size(), sizeof(sockaddr_storage));
  const auto copy = std::make_unique<sockaddr_storage>();
  std::memcpy(copy.get(), form.data(), size);
  const address a(reinterpret_cast<const sockaddr*>(copy.get()), static_cast<socklen_t>(size));
  use(a);
  const auto again = parsed<address>(a.to_string());
  if (a.type() == address::kind::ipv4) require(again && again->to_string() == a.to_string(), "IPv4 survives as text");
}

/// The families take turns as long as there are two.
void check_interleaving(fuzz::input in) {
  std::vector<address> candidates;
  while (!in.empty() && candidates.size() < 20) {
    const std::uint8_t b = in.byte();
    candidates.emplace_back(join_address(b % 2 != 0 ? "::1" : "127.0.0.1", b));
  }
  const std::vector<address> order = interleaved(candidates);
  require(std::is_permutation(order.begin(), order.end(), candidates.begin(), candidates.end()), "all are tried");
  require(order.empty() || order.front() == candidates.front(), "the first stays the first");
}

}  // namespace

// '#' begins the system's form of an address, '%' a list of candidates; anything else is a text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bytes in = fuzz::input(data, size).rest();
  if (in.starts_with('#'))
    check_system_form(in.substr(1));
  else if (in.starts_with('%'))
    check_interleaving(fuzz::input(in.substr(1)));
  else
    check_text(in);
  return 0;
}
