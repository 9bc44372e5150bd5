// SPDX-License-Identifier: BSL-1.0
// proxy_protocol: a line of text (version 1), or 16 bytes, addresses and extensions (version 2).
#include "proxy/proxy_protocol.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace example::proxy {
namespace {

using quintet::address;
using quintet::bytes;
using quintet::connection_ends;
using outcome = header_reading::outcome;

constexpr bytes signature_1 = "PROXY ";
constexpr bytes signature_2("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t fixed_part = 16;
constexpr header_reading malformed{.result = outcome::malformed};

address ip(int family, const void* octets, std::uint16_t port_in_net_order) {
  if (family == AF_INET) {
    sockaddr_in a{.sin_family = AF_INET, .sin_port = port_in_net_order, .sin_addr = {}, .sin_zero = {}};
    std::memcpy(&a.sin_addr, octets, sizeof a.sin_addr);
    return {reinterpret_cast<const sockaddr*>(&a), sizeof a};
  }
  sockaddr_in6 a{};
  a.sin6_family = AF_INET6;
  a.sin6_port = port_in_net_order;
  std::memcpy(&a.sin6_addr, octets, sizeof a.sin6_addr);
  return {reinterpret_cast<const sockaddr*>(&a), sizeof a};
}

// ---- Version 1 ------------------------------------------------------------------------------------------------------

/// Removes a word and the blank behind it from `line`. Returns nothing if the word is empty or no blank follows.
std::optional<bytes> word(bytes& line) {
  const auto blank = line.find(' ');
  if (blank == bytes::npos || blank == 0) return std::nullopt;
  const bytes found = line.substr(0, blank);
  line.remove_prefix(blank + 1);
  return found;
}

std::optional<std::uint16_t> port(bytes text) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool padded = text.size() > 1 && text.front() == '0';
  if (error != std::errc() || end != text.data() + text.size() || padded) return std::nullopt;
  return htons(value);
}

std::optional<connection_ends> ends_of_line(int family, bytes line) {
  const auto source = word(line), destination = word(line), source_port = word(line);
  if (!source || !destination || !source_port) return std::nullopt;
  const auto from = port(*source_port), to = port(line);
  std::array<unsigned char, 16> source_ip{}, destination_ip{};
  const bool parsed = ::inet_pton(family, std::string(*source).c_str(), source_ip.data()) == 1 &&
                      ::inet_pton(family, std::string(*destination).c_str(), destination_ip.data()) == 1;
  if (!from || !to || !parsed || line.find('\0') != bytes::npos) return std::nullopt;
  return connection_ends{ip(family, source_ip.data(), *from), ip(family, destination_ip.data(), *to)};
}

header_reading read_line(bytes in) {
  const bytes allowed = in.substr(0, longest_v1);
  const auto end = allowed.find_first_of(bytes("\r\n\0", 3), signature_1.size());
  const bool whole = end != bytes::npos && allowed.substr(end, 2) == "\r\n";
  if (!whole) {
    const bool may_become_whole =
        end == bytes::npos ? in.size() < longest_v1 : in[end] == '\r' && end + 1 == in.size() && end + 2 <= longest_v1;
    return may_become_whole ? header_reading{} : malformed;
  }
  header_reading read{.result = outcome::whole, .used = end + 2};
  bytes line = allowed.substr(signature_1.size(), end - signature_1.size());
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return read;
  const auto family = word(line);
  if (family != "TCP4" && family != "TCP6") return malformed;
  read.ends = ends_of_line(family == "TCP4" ? AF_INET : AF_INET6, line);
  return read.ends ? read : malformed;
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

std::optional<connection_ends> ends_of_block(int family, bytes block) {
  const std::size_t size = family == AF_INET ? 4 : 16;
  std::uint16_t from = 0, to = 0;
  std::memcpy(&from, block.data() + 2 * size, 2);
  std::memcpy(&to, block.data() + 2 * size + 2, 2);
  return connection_ends{ip(family, block.data(), from), ip(family, block.data() + size, to)};
}

header_reading read_block(bytes in) {
  if (in.size() > 12 && octet(in, 12) != 0x20 && octet(in, 12) != 0x21) return malformed;
  if (in.size() < fixed_part) return {};
  const std::size_t size = length(in, 14);
  if (size > longest_payload) return malformed;
  // Families of streams: none, IPv4, IPv6, Unix.
  std::size_t addresses = 0;
  switch (octet(in, 13)) {
    case 0x00:
      break;
    case 0x11:
      addresses = 12;
      break;
    case 0x21:
      addresses = 36;
      break;
    case 0x31:
      addresses = 216;
      break;
    default:
      return malformed;
  }
  const bool talks_for_itself = octet(in, 12) == 0x20;
  if (talks_for_itself && size < addresses) addresses = 0;  // LOCAL: the addresses are ignored
  if (size < addresses) return malformed;
  if (in.size() < fixed_part + size) return {};
  const bytes header = in.substr(0, fixed_part + size);
  header_reading read{.result = outcome::whole, .used = header.size()};
  if (talks_for_itself || addresses == 0) return read;
  if (!are_extensions_valid(header, fixed_part + addresses)) return malformed;
  if (addresses != 216) read.ends = ends_of_block(addresses == 12 ? AF_INET : AF_INET6, header.substr(fixed_part));
  return read;
}

// ---- Writing --------------------------------------------------------------------------------------------------------

bool are_of_one_family(const connection_ends& e) { return e.peer.is_ip() && e.peer.type() == e.local.type(); }

bytes octets_of(const address& a) {
  if (a.type() == address::kind::ipv4)
    return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(a.data())->sin_addr), 4};
  return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6*>(a.data())->sin6_addr), 16};
}

std::string make_line(const connection_ends& e) {
  if (!are_of_one_family(e)) return "PROXY UNKNOWN\r\n";
  const auto host = [](const address& a) { return a.host().substr(0, a.host().find('%')); };
  return std::string("PROXY ") + (e.peer.type() == address::kind::ipv4 ? "TCP4 " : "TCP6 ") + host(e.peer) + " " +
         host(e.local) + " " + std::to_string(e.peer.port()) + " " + std::to_string(e.local.port()) + "\r\n";
}

std::string make_block(const connection_ends& e) {
  std::string header(signature_2);
  const auto put = [&header](unsigned value) { header.push_back(static_cast<char>(value)); };
  const auto put_two = [&](unsigned value) { put(value >> 8U), put(value & 0xFFU); };
  put(0x21);
  const bool known = are_of_one_family(e), is_4 = known && e.peer.type() == address::kind::ipv4;
  put(!known ? 0x00 : is_4 ? 0x11 : 0x21);
  put_two(!known ? 0 : is_4 ? 12 : 36);
  if (!known) return header;
  header.append(octets_of(e.peer)).append(octets_of(e.local));
  put_two(e.peer.port());
  put_two(e.local.port());
  return header;
}

}  // namespace

header_reading read_header(bytes in) {
  const auto begins = [in](bytes signature) { return signature.starts_with(in.substr(0, signature.size())); };
  if (begins(signature_1)) return in.size() < signature_1.size() ? header_reading{} : read_line(in);
  if (begins(signature_2)) return in.size() < signature_2.size() ? header_reading{} : read_block(in);
  return malformed;
}

std::string make_header(proxy_version version, const connection_ends& ends) {
  switch (version) {
    case proxy_version::v1:
      return make_line(ends);
    case proxy_version::v2:
      return make_block(ends);
    case proxy_version::none:
      break;
  }
  return {};
}

}  // namespace example::proxy
