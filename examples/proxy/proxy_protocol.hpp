// SPDX-License-Identifier: BSL-1.0
// proxy_protocol: the header by which a proxy tells the server behind it who the client is, versions 1 and 2.
#pragma once

#include <quintet/base/bytes.hpp>
#include <quintet/net/handler.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace example::proxy {

/// HAProxy's PROXY protocol (haproxy.org/download/2.9/doc/proxy-protocol.txt).
enum class proxy_version : std::uint8_t { none, v1, v2 };

inline constexpr std::size_t longest_v1 = 107;        ///< bytes of a header, its line end included
inline constexpr std::size_t longest_payload = 2048;  ///< bytes of addresses and extensions behind the 16 of version 2

struct header_reading {
  enum class outcome : std::uint8_t { incomplete, whole, malformed };
  outcome result = outcome::incomplete;
  std::size_t used = 0;  ///< bytes of a whole one
  /// Nothing: the proxy talks for itself, or does not know, or the client has no IP address.
  std::optional<quintet::connection_ends> ends = {};
};

/// What stands at the beginning of `in`. Strict: what the specification does not allow is malformed, and what exceeds
/// the limits is so before it has arrived; extensions of version 2 are skipped, but for a checksum, which is verified
/// and may come once.
[[nodiscard]] header_reading read_header(quintet::bytes in);

/// Empty for none. Without addresses of one family of IP it says that they are unknown.
[[nodiscard]] std::string make_header(proxy_version version, const quintet::connection_ends& ends);

}  // namespace example::proxy
