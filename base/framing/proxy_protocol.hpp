// SPDX-License-Identifier: BSL-1.0
// proxy_protocol: the header with which a proxy tells the server behind it the client's address, versions 1 and 2.
#pragma once

#include "../bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quintet {

/// HAProxy's PROXY protocol (haproxy.org/download/2.9/doc/proxy-protocol.txt).
enum class proxy_version : std::uint8_t { none, v1, v2 };

inline constexpr std::size_t longest_v1 = 107;                 ///< bytes of a header, its line end included
inline constexpr std::size_t default_max_proxy_header = 2064;  ///< bytes of one of version 2, with its extensions

/// One end of the client's connection with the proxy.
struct proxied_end {
  std::array<unsigned char, 16> octets = {};  ///< the IP address
  std::uint8_t size = 0;                      ///< 4: IPv4, 16: IPv6, 0: no IP address, or none is told
  std::uint16_t port = 0;                     ///< in host byte order

  /// Returns the octets that count.
  [[nodiscard]] std::span<const unsigned char> ip() const noexcept { return {octets.data(), size}; }
  /// Compares address and port.
  bool operator==(const proxied_end&) const = default;
};

/// A parsed header. Both ends are of one IP family. If they have no octets, the header names no client: the proxy does
/// not know it, connects for itself, such as for a health check (LOCAL), or tells of a Unix socket or of datagrams. Use
/// the connection's own addresses then.
struct proxy_header {
  /// The result of parsing.
  enum class state : std::uint8_t { incomplete, complete, malformed };
  state is = state::incomplete;  ///< the result
  std::size_t size = 0;          ///< complete: bytes of the header
  proxied_end peer = {};         ///< the client
  proxied_end local = {};        ///< where the client has connected to
};

/// [any thread] Parses the header at the beginning of `in`. Strict: a violation of the specification is malformed, and
/// a header above `max_size` is malformed before it has arrived. Extensions of version 2 are skipped, except for a
/// checksum: it is verified if the header has addresses, and may occur once.
[[nodiscard]] proxy_header read_proxy_header(bytes in, std::size_t max_size = default_max_proxy_header);

/// [any thread] Returns a header, or an empty string for `none`. The header says "unknown" unless both addresses are of
/// one IP family.
[[nodiscard]] std::string make_proxy_header(proxy_version version, const proxied_end& peer, const proxied_end& local);

}  // namespace quintet
