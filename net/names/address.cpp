// SPDX-License-Identifier: BSL-1.0
// address: parses strictly, and converts back to text.
#include "address.hpp"

#include "../../base/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace quintet {
namespace {

constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;  // without the final or initial zero

/// Throws config_error unless `text` is a port without sign, spaces or leading zero.
std::uint16_t parse_port(std::string_view text) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || (text.size() > 1 && text.front() == '0'))
    throw config_error("'" + std::string(text) + "' is not a port from 0 to 65535");
  return value;
}

/// Returns the zone of a name or a number, RFC 4007, section 11.2. The interface of a number need not exist yet; zone 0
/// is the default one. Throws config_error.
std::uint32_t parse_zone(const std::string& text) {
  if (const unsigned named = ::if_nametoindex(text.c_str()); named != 0) return named;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || (text.size() > 1 && text.front() == '0'))
    throw config_error("'" + text + "' is neither an interface of this machine nor the number of one");
  return number;
}

}  // namespace

address::address(std::string_view text) try { parse(text); } catch (const config_error& why) {
  std::string shown(text);
  std::ranges::replace(shown, '\0', '?');
  throw config_error("address '" + shown + "' is invalid: " + why.what() +
                     "; it must be IPv4 (127.0.0.1:80), IPv6 ([::1]:80), unix:/path or unix:@name");
}

void address::parse(std::string_view text) {
  if (text.find('\0') != text.npos) throw config_error("it contains a zero byte");
  if (text.starts_with(unix_prefix)) return parse_unix(text.substr(unix_prefix.size()));
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) throw config_error("it has no port");
  const std::string host(text.substr(0, colon));
  const std::uint16_t port = parse_port(text.substr(colon + 1));
  if (host.starts_with('[') && host.ends_with(']')) return parse_ipv6(host.substr(1, host.size() - 2), port);
  parse_ipv4(host, port);
}

void address::parse_ipv4(const std::string& host, std::uint16_t port) {
  auto& in = as<sockaddr_in>();
  if (::inet_pton(AF_INET, host.c_str(), &in.sin_addr) != 1)
    throw config_error("'" + host + "' is not an IPv4 address or an IPv6 address in brackets");
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  size_ = sizeof(sockaddr_in);
  kind_ = kind::ipv4;
}

void address::parse_ipv6(const std::string& host, std::uint16_t port) {
  auto& in = as<sockaddr_in6>();
  const std::size_t percent = host.find('%');
  if (::inet_pton(AF_INET6, host.substr(0, percent).c_str(), &in.sin6_addr) != 1)
    throw config_error("'" + host + "' is not an IPv6 address");
  if (percent != host.npos) {
    in.sin6_scope_id = parse_zone(host.substr(percent + 1));
  }
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  size_ = sizeof(sockaddr_in6);
  kind_ = kind::ipv6;
}

void address::parse_unix(std::string_view name) {
  const bool is_abstract = name.starts_with('@');
  if (!is_abstract && !name.starts_with('/')) throw config_error("the path is not absolute");
  if (name.size() < 2) throw config_error("the name of the socket is empty");
  if (name.size() > longest_path)
    throw config_error("the name of the socket has " + std::to_string(name.size()) +
                       " characters and may have at most " + std::to_string(longest_path));
  auto& un = as<sockaddr_un>();
  un.sun_family = AF_UNIX;
  name.copy(un.sun_path, name.size());
  if (is_abstract) un.sun_path[0] = '\0';
  size_ = static_cast<socklen_t>(path_offset + name.size() + (is_abstract ? 0 : 1));
  kind_ = is_abstract ? kind::unix_abstract : kind::unix_path;
}

address::address(const sockaddr* from, socklen_t size) noexcept : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, from, size_);
  set_kind();
}

address::address(std::span<const unsigned char> octets, std::uint16_t port) noexcept {
  if (octets.size() == 4) {
    auto& in = as<sockaddr_in>();
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, octets.data(), 4);
    size_ = sizeof in;
  } else if (octets.size() == 16) {
    auto& in = as<sockaddr_in6>();
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    std::memcpy(&in.sin6_addr, octets.data(), 16);
    size_ = sizeof in;
  }
  set_kind();
}

std::span<const unsigned char> address::octets() const noexcept {
  if (kind_ == kind::ipv4) return {reinterpret_cast<const unsigned char*>(&as<sockaddr_in>().sin_addr), 4};
  if (kind_ == kind::ipv6) return {as<sockaddr_in6>().sin6_addr.s6_addr, 16};
  return {};
}

void address::set_kind() noexcept {
  if (size_ >= sizeof(sockaddr_in) && storage_.ss_family == AF_INET) {
    kind_ = kind::ipv4;
  } else if (size_ >= sizeof(sockaddr_in6) && storage_.ss_family == AF_INET6) {
    kind_ = kind::ipv6;
    const sockaddr_in6 in = as<sockaddr_in6>();
    if (!IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) return;
    storage_ = {};
    auto& v4 = as<sockaddr_in>();
    v4.sin_family = AF_INET;
    v4.sin_port = in.sin6_port;
    std::memcpy(&v4.sin_addr, in.sin6_addr.s6_addr + 12, 4);
    size_ = sizeof(sockaddr_in);
    kind_ = kind::ipv4;
  } else if (size_ >= path_offset && storage_.ss_family == AF_UNIX) {
    const char* path = as<sockaddr_un>().sun_path;
    kind_ = size_ == path_offset ? kind::unix_unnamed : *path ? kind::unix_path : kind::unix_abstract;
  }
}

std::string address::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (kind_ == kind::ipv4) return ::inet_ntop(AF_INET, &as<sockaddr_in>().sin_addr, text.data(), text.size());
  if (kind_ != kind::ipv6) return {};
  std::string host = ::inet_ntop(AF_INET6, &as<sockaddr_in6>().sin6_addr, text.data(), text.size());
  std::array<char, IF_NAMESIZE> name{};
  const std::uint32_t scope = as<sockaddr_in6>().sin6_scope_id;
  if (scope != 0) host.append("%").append(::if_indextoname(scope, name.data()) ? name.data() : std::to_string(scope));
  return host;
}

std::uint16_t address::port() const noexcept {
  if (kind_ == kind::ipv4) return ntohs(as<sockaddr_in>().sin_port);
  return kind_ == kind::ipv6 ? ntohs(as<sockaddr_in6>().sin6_port) : std::uint16_t{0};
}

std::string_view address::path() const noexcept {
  const char* path = as<sockaddr_un>().sun_path;
  if (kind_ == kind::unix_path) return {path, ::strnlen(path, size_ - path_offset)};
  if (kind_ == kind::unix_abstract) return {path + 1, size_ - path_offset - 1};
  return {};
}

std::string address::to_string() const {
  if (is_ip()) return join_address(host(), port());
  if (!is_unix()) return {};
  return std::string(unix_prefix) + (kind_ == kind::unix_abstract ? "@" : "") + std::string(path());
}

std::optional<address::network_type> address::network() const noexcept {
  network_type result{};
  result.back() = static_cast<std::uint8_t>(kind_);
  if (kind_ == kind::ipv4)
    std::memcpy(result.data(), &as<sockaddr_in>().sin_addr, 4);
  else if (kind_ == kind::ipv6)
    std::memcpy(result.data(), &as<sockaddr_in6>().sin6_addr, 8);
  else
    return std::nullopt;
  return result;
}

bool operator==(const address& a, const address& b) noexcept {
  return a.size_ == b.size_ && std::memcmp(&a.storage_, &b.storage_, a.size_) == 0;
}

std::string join_address(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != host.npos;
  return (v6 ? "[" : "") + std::string(host) + (v6 ? "]:" : ":") + std::to_string(port);
}

}  // namespace quintet
