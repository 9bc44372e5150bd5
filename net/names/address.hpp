// SPDX-License-Identifier: BSL-1.0
// address: the address of a listener or peer: IPv4, IPv6 or Unix socket, in one syntax.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/socket.h>

namespace quintet {

/// [any thread] A value. Its text:
///
///     127.0.0.1:80   0.0.0.0:80     IPv4
///     [::1]:80   [fe80::1%eth0]:80  IPv6
///     unix:/run/kv.sock             a Unix socket at an absolute path
///     unix:@kv                      a Unix socket with an abstract name, without a file
///     unix:                         output only: a Unix peer without a name, as most have
class address {
 public:
  /// The forms above, and none.
  enum class kind : std::uint8_t { none, ipv4, ipv6, unix_path, unix_abstract, unix_unnamed };
  /// The whole IPv4 address, or the first half of an IPv6 one: providers assign each customer such a network.
  using network_type = std::array<std::uint8_t, 9>;

  /// Makes an address of kind none, with an empty text.
  address() noexcept = default;
  /// Parses `text`, without a resolver: host names are not allowed. Throws config_error, which lists the allowed forms.
  explicit address(std::string_view text);
  /// Makes an IP address of 4 or 16 octets; of kind none for any other number. An IPv4-mapped one becomes IPv4.
  address(std::span<const unsigned char> octets, std::uint16_t port) noexcept;
  /// Copies a system address. An IPv4-mapped IPv6 one, as of a dual-stack listener's peer, becomes IPv4.
  address(const sockaddr* from, socklen_t size) noexcept;

  /// Returns the kind.
  [[nodiscard]] kind type() const noexcept { return kind_; }
  /// Returns whether it is an IPv4 or IPv6 address.
  [[nodiscard]] bool is_ip() const noexcept { return kind_ == kind::ipv4 || kind_ == kind::ipv6; }
  /// Returns whether it is that of a Unix socket, with or without a name.
  [[nodiscard]] bool is_unix() const noexcept { return kind_ >= kind::unix_path; }
  /// Returns the text in one of the forms above.
  [[nodiscard]] std::string to_string() const;
  /// Returns "127.0.0.1" or "::1"; empty for a Unix socket.
  [[nodiscard]] std::string host() const;
  /// Returns the port in host byte order; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Returns the 4 or 16 octets of an IP address, which this object owns; empty for a Unix socket.
  [[nodiscard]] std::span<const unsigned char> octets() const noexcept;
  /// Returns the path, or the abstract name without '@'; empty for IP. The address owns the characters.
  [[nodiscard]] std::string_view path() const noexcept;
  /// Returns the key of per-address limits; nothing for a Unix socket.
  [[nodiscard]] std::optional<network_type> network() const noexcept;

  /// Returns the system address, which this object owns; size() is its length in bytes.
  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }

  /// Compares kind, address and port.
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

/// The two addresses of a connection.
struct connection_ends {
  address peer;   ///< of the other end
  address local;  ///< of this end
};

/// Joins "127.0.0.1" and 80 to "127.0.0.1:80", "::1" and 80 to "[::1]:80".
[[nodiscard]] std::string join_address(std::string_view host, std::uint16_t port);

}  // namespace quintet
