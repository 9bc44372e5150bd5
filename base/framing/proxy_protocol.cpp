// SPDX-License-Identifier: BSL-1.0
// proxy_protocol: a line of text (version 1), or 16 bytes, addresses and extensions (version 2).
#include "proxy_protocol.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <arpa/inet.h>

namespace quintet {
namespace {

using state = proxy_header::state;

constexpr bytes signature_1 = "PROXY ";
constexpr bytes signature_2("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t fixed_part = 16;
constexpr proxy_header malformed{.is = state::malformed};

// ---- Version 1 ------------------------------------------------------------------------------------------------------

/// Removes a word and the blank behind it from `line`. Returns nothing if the word is empty or no blank follows.
std::optional<bytes> word(bytes& line) {
  const auto blank = line.find(' ');
  if (blank == bytes::npos || blank == 0) return std::nullopt;
  const bytes found = line.substr(0, blank);
  line.remove_prefix(blank + 1);
  return found;
}

/// Stores an end; returns false unless both texts are right.
bool parse(proxied_end& to, std::uint8_t size, bytes ip, bytes port) {
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), to.port);
  const bool padded = port.size() > 1 && port.front() == '0';
  if (error != std::errc() || end != port.data() + port.size() || padded) return false;
  to.size = size;
  return ip.find('\0') == bytes::npos &&
         ::inet_pton(size == 4 ? AF_INET : AF_INET6, std::string(ip).c_str(), to.octets.data()) == 1;
}

bool parse_ends(proxy_header& to, std::uint8_t size, bytes line) {
  const auto source = word(line), destination = word(line), source_port = word(line);
  return source && destination && source_port && parse(to.peer, size, *source, *source_port) &&
         parse(to.local, size, *destination, line);
}

proxy_header read_line(bytes in) {
  const bytes allowed = in.substr(0, longest_v1);
  const auto end = allowed.find_first_of(bytes("\r\n\0", 3), signature_1.size());
  const bool complete = end != bytes::npos && allowed.substr(end, 2) == "\r\n";
  if (!complete) {
    const bool may_become_complete =
        end == bytes::npos ? in.size() < longest_v1 : in[end] == '\r' && end + 1 == in.size() && end + 2 <= longest_v1;
    return may_become_complete ? proxy_header{} : malformed;
  }
  proxy_header read{.is = state::complete, .size = end + 2};
  bytes line = allowed.substr(signature_1.size(), end - signature_1.size());
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return read;
  const auto family = word(line);
  if (family != "TCP4" && family != "TCP6") return malformed;
  return parse_ends(read, family == "TCP4" ? 4 : 16, line) ? read : malformed;
}

// ---- Version 2 ------------------------------------------------------------------------------------------------------

std::uint8_t octet(bytes in, std::size_t at) { return static_cast<std::uint8_t>(in[at]); }
std::size_t length(bytes in, std::size_t at) { return std::size_t{octet(in, at)} << 8U | octet(in, at + 1); }

/// CRC-32C (RFC 3720, B.4) of each octet value.
constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1U ^ ((table[i] & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return table;
}();

/// Returns the CRC-32C of `in`, with zeros for the four bytes at `hole`.
std::uint32_t checksum(bytes in, std::size_t hole) {
  std::uint32_t crc = ~0U;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint32_t next = i - hole < 4 ? 0U : octet(in, i);  // below `hole` the difference wraps around
    crc = crc >> 8U ^ crc_table[(crc ^ next) & 0xFFU];
  }
  return ~crc;
}

/// Checks the extensions, which fill the rest of the header: each has a type, a length and a value. Allows one
/// checksum: each covers the whole header, so a client could make the server compute hundreds.
bool are_extensions_valid(bytes header, std::size_t at) {
  constexpr std::uint8_t type_crc = 3;
  bool has_checksum = false;
  while (at < header.size()) {
    if (header.size() - at < 3) return false;
    const std::size_t value = at + 3, size = length(header, at + 1);
    if (header.size() - value < size) return false;
    if (octet(header, at) == type_crc) {
      if (size != 4 || std::exchange(has_checksum, true)) return false;
      std::uint32_t said = 0;
      std::memcpy(&said, header.data() + value, 4);
      if (ntohl(said) != checksum(header, value)) return false;
    }
    at = value + size;
  }
  return true;
}

proxied_end end_at(bytes block, std::uint8_t size, std::size_t ip, std::size_t port) {
  proxied_end end{.size = size, .port = static_cast<std::uint16_t>(length(block, port))};
  std::memcpy(end.octets.data(), block.data() + ip, size);
  return end;
}

/// Of each family, streams and datagrams. Returns nothing for one that there is not.
std::optional<std::size_t> size_of_addresses(std::uint8_t family) {
  switch (family) {
    case 0x00:  // none
      return 0;
    case 0x11:  // IPv4
    case 0x12:
      return 12;
    case 0x21:  // IPv6
    case 0x22:
      return 36;
    case 0x31:  // Unix
    case 0x32:
      return 216;
    default:
      return std::nullopt;
  }
}

/// Returns the size of the client's IP address; 0: the family is not that of a TCP connection.
std::uint8_t octets_of_client(std::uint8_t family) {
  if (family == 0x11) return 4;
  return family == 0x21 ? 16 : 0;
}

/// Returns how many of the `size` bytes behind the fixed part are addresses, or nothing if they cannot be.
std::optional<std::size_t> address_bytes(bytes in, std::size_t size) {
  const std::optional<std::size_t> known = size_of_addresses(octet(in, 13));
  return known && size < *known ? std::nullopt : known;
}

proxy_header read_block(bytes in, std::size_t max_size) {
  if (in.size() > 12 && (octet(in, 12) & 0xFEU) != 0x20) return malformed;  // LOCAL or PROXY
  if (in.size() < fixed_part) return {};
  const std::size_t size = length(in, 14);
  if (fixed_part + size > max_size) return malformed;
  const bool talks_for_itself = octet(in, 12) == 0x20;  // LOCAL: the rest is ignored, also the family
  const std::optional<std::size_t> addresses = talks_for_itself ? 0 : address_bytes(in, size);
  if (!addresses) return malformed;
  if (in.size() < fixed_part + size) return {};
  const bytes header = in.substr(0, fixed_part + size);
  proxy_header read{.is = state::complete, .size = header.size()};
  if (*addresses == 0) return read;
  if (!are_extensions_valid(header, fixed_part + *addresses)) return malformed;
  const std::uint8_t octets = octets_of_client(octet(in, 13));
  if (octets == 0) return read;
  const bytes block = header.substr(fixed_part);
  read.peer = end_at(block, octets, 0, 2 * std::size_t{octets});
  read.local = end_at(block, octets, octets, 2 * std::size_t{octets} + 2);
  return read;
}

// ---- Writing --------------------------------------------------------------------------------------------------------

bool are_of_one_family(const proxied_end& a, const proxied_end& b) { return a.size > 0 && a.size == b.size; }

std::string make_line(const proxied_end& peer, const proxied_end& local) {
  if (!are_of_one_family(peer, local)) return "PROXY UNKNOWN\r\n";
  const auto host = [](const proxied_end& end) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    return std::string(::inet_ntop(end.size == 4 ? AF_INET : AF_INET6, end.octets.data(), text.data(), text.size()));
  };
  return std::string("PROXY ") + (peer.size == 4 ? "TCP4 " : "TCP6 ") + host(peer) + " " + host(local) + " " +
         std::to_string(peer.port) + " " + std::to_string(local.port) + "\r\n";
}

std::string make_block(const proxied_end& peer, const proxied_end& local) {
  std::string header(signature_2);
  const auto put = [&header](unsigned value) { header.push_back(static_cast<char>(value)); };
  const auto put_two = [&](unsigned value) { put(value >> 8U), put(value & 0xFFU); };
  const bool known = are_of_one_family(peer, local);
  put(0x21);
  put(!known ? 0x00 : peer.size == 4 ? 0x11 : 0x21);
  put_two(!known ? 0 : 2U * peer.size + 4);
  if (!known) return header;
  for (const proxied_end& end : {peer, local})
    header.append(reinterpret_cast<const char*>(end.octets.data()), end.size);
  put_two(peer.port);
  put_two(local.port);
  return header;
}

}  // namespace

proxy_header read_proxy_header(bytes in, std::size_t max_size) {
  const auto begins = [in](bytes signature) { return signature.starts_with(in.substr(0, signature.size())); };
  if (begins(signature_1)) return in.size() < signature_1.size() ? proxy_header{} : read_line(in);
  if (begins(signature_2)) return in.size() < signature_2.size() ? proxy_header{} : read_block(in, max_size);
  return malformed;
}

std::string make_proxy_header(proxy_version version, const proxied_end& peer, const proxied_end& local) {
  switch (version) {
    case proxy_version::v1:
      return make_line(peer, local);
    case proxy_version::v2:
      return make_block(peer, local);
    case proxy_version::none:
      break;
  }
  return {};
}

}  // namespace quintet
