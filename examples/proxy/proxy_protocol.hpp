// SPDX-License-Identifier: BSL-1.0
// proxy_protocol: the header with which a proxy tells the server behind it the client's address, versions 1 and 2.
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
  std::size_t used = 0;  ///< bytes of a whole header
  /// Nothing: the proxy connects for itself (LOCAL), or the client's address is unknown or no IP address.
  std::optional<quintet::connection_ends> ends = {};
};

/// Parses the header at the beginning of `in`. Strict: a violation of the specification is malformed, and a header
/// above the limits is malformed before it has arrived. Extensions of version 2 are skipped, except for a checksum: it
/// is verified if the header has addresses, and may occur once.
[[nodiscard]] header_reading read_header(quintet::bytes in);

/// Returns a header, or an empty string for `none`. The header says "unknown" unless both addresses are of one IP
/// family.
[[nodiscard]] std::string make_header(proxy_version version, const quintet::connection_ends& ends);

}  // namespace example::proxy
