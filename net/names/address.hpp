// SPDX-License-Identifier: BSL-1.0
// address: where somebody listens or is: IPv4, IPv6 or a Unix socket; one syntax for all of them, everywhere.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/socket.h>

namespace quintet {

/// A value. In text:
///
///     127.0.0.1:80   0.0.0.0:80     IPv4
///     [::1]:80   [fe80::1%eth0]:80  IPv6
///     unix:/run/kv.sock             a Unix socket at an absolute path
///     unix:@kv                      a Unix socket with an abstract name, of which no file exists
///     unix:                         never to listen on: a Unix peer that has no name, as most have
class address {
 public:
  enum class kind : std::uint8_t { none, ipv4, ipv6, unix_path, unix_abstract, unix_unnamed };
  /// A whole IPv4 address or the first half of an IPv6 one, which is what one customer of a provider has.
  using network_type = std::array<std::uint8_t, 9>;

  /// Of kind none; its text is empty.
  address() noexcept = default;
  /// Throws config_error, which says what is allowed. Host names are not: there is one way to write an address, and it
  /// needs no resolver.
  explicit address(std::string_view text);
  /// Of the system's form. An IPv4 peer of a dual-stack listener is an IPv4 address.
  address(const sockaddr* from, socklen_t size) noexcept;

  [[nodiscard]] kind type() const noexcept { return kind_; }
  [[nodiscard]] bool is_ip() const noexcept { return kind_ == kind::ipv4 || kind_ == kind::ipv6; }
  [[nodiscard]] bool is_unix() const noexcept { return kind_ >= kind::unix_path; }
  [[nodiscard]] std::string to_string() const;
  /// "127.0.0.1", "::1", and nothing for a Unix socket.
  [[nodiscard]] std::string host() const;
  /// 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The path or abstract name, and nothing for IP.
  [[nodiscard]] std::string_view path() const noexcept;
  /// What limits for each address count by; none for a Unix socket.
  [[nodiscard]] std::optional<network_type> network() const noexcept;

  /// The system's form.
  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }

  friend bool operator==(const address& a, const address& b) noexcept;

 private:
  void parse(std::string_view text);
  void parse_unix(std::string_view name);
  void parse_ipv4(const std::string& host, std::uint16_t port);
  void parse_ipv6(const std::string& host, std::uint16_t port);
  void set_kind() noexcept;
  template <class T>
  T& as() noexcept {
    return reinterpret_cast<T&>(storage_);
  }
  template <class T>
  const T& as() const noexcept {
    return reinterpret_cast<const T&>(storage_);
  }

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
  kind kind_ = kind::none;
};

/// "127.0.0.1" and 80 to "127.0.0.1:80", "::1" and 80 to "[::1]:80": for command lines that take the two apart.
[[nodiscard]] std::string join_address(std::string_view host, std::uint16_t port);

}  // namespace quintet
