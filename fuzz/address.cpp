// SPDX-License-Identifier: BSL-1.0
// address: any text is parsed or refused; addresses from text and from the system survive a round trip.
#include <quintet/net/names/address.hpp>

#include "fuzz.hpp"

#include <quintet/base/error.hpp>
#include <quintet/net/names/destination.hpp>

#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

const sockaddr_in6& ipv6(const address& a) { return *reinterpret_cast<const sockaddr_in6*>(a.data()); }

/// Checks a copy through the system's form. A text may name an IPv4-mapped IPv6 address; its copy is the IPv4 address.
void check_copy(const address& a) {
  const address copy(a.data(), a.size());
  if (a.type() == address::kind::ipv6 && IN6_IS_ADDR_V4MAPPED(&ipv6(a).sin6_addr)) {
    require(copy.type() == address::kind::ipv4, "the system's form of a mapped address is an IPv4 address");
    const std::string host = a.host();
    require(host.substr(0, host.find('%')) == "::ffff:" + copy.host(), "a mapped address keeps its host");
    require(copy.port() == a.port(), "a mapped address keeps its port");
  } else {
    require(a == copy && a.type() == copy.type(), "the system's form is the address");
  }
}

void use(const address& a) {
  require(a.is_ip() == !a.host().empty(), "only addresses of IP have a host");
  require(a.is_ip() == a.network().has_value(), "only addresses of IP have a network");
  require(a.is_ip() || a.port() == 0, "only addresses of IP have a port");
  require(!a.is_ip() || a.path().empty(), "only sockets of Unix have a path");
  check_copy(a);
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

/// Returns whether the parser accepts the text of `a`, which may come from the system. Relative paths have no such
/// text.
bool has_text(const address& a) {
  constexpr std::size_t longest_name = sizeof(sockaddr_un::sun_path) - 1;  // "/path" or "@name"
  const std::string_view path = a.path();
  if (a.type() == address::kind::unix_path)
    return path.starts_with('/') && path.size() >= 2 && path.size() <= longest_name;
  if (a.type() == address::kind::unix_abstract)
    return !path.empty() && path.size() < longest_name && path.find('\0') == path.npos;
  return a.is_ip();
}

/// A scope id without an interface has no name, so the text loses it.
void check_scope(const address& a, const address& again) {
  const bool is_named = a.host().find('%') != std::string::npos;
  const auto scope = ipv6(a).sin6_scope_id;
  require(ipv6(again).sin6_scope_id == (is_named ? scope : 0), "a scope id survives as the name of its interface");
}

void check_system_form(bytes form) {
  const auto size = std::min(form.size(), sizeof(sockaddr_storage));
  const auto copy = std::make_unique<sockaddr_storage>();
  std::memcpy(copy.get(), form.data(), size);
  const address a(reinterpret_cast<const sockaddr*>(copy.get()), static_cast<socklen_t>(size));
  use(a);
  if (!has_text(a)) return;
  const auto again = parsed<address>(a.to_string());
  require(again && again->to_string() == a.to_string() && again->type() == a.type(), "a system form survives as text");
  if (a.type() == address::kind::ipv6) check_scope(a, *again);
}

std::vector<address> of_family(const std::vector<address>& all, address::kind family) {
  std::vector<address> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const address& a) { return a.type() == family; });
  return found;
}

/// Checks that families alternate while both have addresses, and that the order within a family stays the same.
void check_interleaving(fuzz::input in) {
  std::vector<address> candidates;
  while (!in.empty() && candidates.size() < 20) {
    const std::uint8_t b = in.byte();
    candidates.emplace_back(join_address(b % 2 != 0 ? "::1" : "127.0.0.1", b));
  }
  const std::vector<address> order = interleaved(candidates);
  require(std::is_permutation(order.begin(), order.end(), candidates.begin(), candidates.end()), "all are tried");
  require(order.empty() || order.front() == candidates.front(), "the first stays the first");
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto family = order[i - 1].type();
    const auto is_same = [&](const address& a) { return a.type() == family; };
    require(!is_same(order[i]) || std::all_of(order.begin() + static_cast<std::ptrdiff_t>(i), order.end(), is_same),
            "the families take turns");
  }
  for (const auto family : {address::kind::ipv4, address::kind::ipv6})
    require(of_family(order, family) == of_family(candidates, family), "a family keeps its order");
}

}  // namespace

// '#' begins the system's form of an address, '%' begins a list of candidates; other inputs are texts.
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
