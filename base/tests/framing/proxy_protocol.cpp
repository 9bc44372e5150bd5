// SPDX-License-Identifier: BSL-1.0
// proxy_protocol: valid headers of the PROXY protocol, as other proxies write them, and malformed ones.
#include <quintet/base/framing/proxy_protocol.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>

namespace quintet::proxy_protocol_tests {
namespace {

namespace bdata = boost::unit_test::data;
using state = proxy_header::state;

const std::string signature("\r\n\r\n\0\r\nQUIT\n", 12);

std::string v2(unsigned command, unsigned family, const std::string& rest) {
  std::string s = signature;
  for (const std::size_t byte : {std::size_t{command}, std::size_t{family}, rest.size() >> 8U, rest.size() & 0xFFU})
    s += static_cast<char>(byte);
  return s + rest;
}
const std::string block_4("\x0A\x00\x00\x01\x7F\x00\x00\x01\x30\x39\x00\x50", 12);  // 10.0.0.1:12345 to 127.0.0.1:80

proxied_end end(const std::string& ip, std::uint16_t port) {
  const bool is_4 = ip.find(':') == std::string::npos;
  proxied_end result{.size = static_cast<std::uint8_t>(is_4 ? 4 : 16), .port = port};
  BOOST_REQUIRE(::inet_pton(is_4 ? AF_INET : AF_INET6, ip.c_str(), result.octets.data()) == 1);
  return result;
}

void check_ends(const proxy_header& read, const proxied_end& peer, const proxied_end& local) {
  BOOST_TEST_REQUIRE((read.is == state::complete));
  BOOST_TEST((read.peer == peer));
  BOOST_TEST((read.local == local));
}

/// Checks that each prefix of the header is incomplete, and that the whole header uses exactly its own bytes.
void check_every_cut(const std::string& header) {
  for (std::size_t n = 0; n < header.size(); ++n)
    BOOST_TEST((read_proxy_header(header.substr(0, n)).is == state::incomplete), "of " << n << " bytes");
  const proxy_header read = read_proxy_header(header + "PROXY and more");
  BOOST_TEST((read.is == state::complete));
  BOOST_TEST(read.size == header.size());
}

BOOST_AUTO_TEST_CASE(a_line_of_version_1) {
  const std::string line = "PROXY TCP4 192.168.0.1 10.255.255.254 56324 443\r\n";
  check_ends(read_proxy_header(line), end("192.168.0.1", 56324), end("10.255.255.254", 443));
  check_every_cut(line);
  check_ends(read_proxy_header("PROXY TCP6 2001:db8::1 ::1 0 65535\r\n"), end("2001:db8::1", 0), end("::1", 65535));
  check_every_cut("PROXY UNKNOWN\r\n");
  BOOST_TEST(read_proxy_header("PROXY UNKNOWN ffff::1 what ever\r\n").peer.ip().empty());
}

BOOST_AUTO_TEST_CASE(the_longest_line_is_taken_and_no_longer_one) {
  const std::string start = "PROXY UNKNOWN ";
  const std::string longest = start + std::string(longest_v1 - start.size() - 2, 'x') + "\r\n";
  BOOST_TEST(longest.size() == 107U);
  check_every_cut(longest);
  BOOST_TEST(
      (read_proxy_header(start + std::string(longest_v1 - start.size() - 1, 'x') + "\r\n").is == state::malformed));
  BOOST_TEST((read_proxy_header(start + std::string(longest_v1 - start.size(), 'x')).is == state::malformed));
}

BOOST_DATA_TEST_CASE(lines_that_nobody_should_write,
                     bdata::make({"GET / HTTP/1.1",
                                  "proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n",
                                  "PROXX",
                                  " PROXY UNKNOWN\r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 1\r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n",
                                  "PROXY TCP4  1.1.1.1 2.2.2.2 1 2\r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 \r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 01 2\r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 -1 2\r\n",
                                  "PROXY TCP4 1.1.1.1 2.2.2.2 1 65536\r\n",
                                  "PROXY TCP4 1.1.1.256 2.2.2.2 1 2\r\n",
                                  "PROXY TCP4 1.1.1 2.2.2.2 1 2\r\n",
                                  "PROXY TCP4 01.1.1.1 2.2.2.2 1 2\r\n",
                                  "PROXY TCP4 ::1 ::1 1 2\r\n",
                                  "PROXY TCP6 1.1.1.1 2.2.2.2 1 2\r\n",
                                  "PROXY TCP6 ::1%lo ::1 1 2\r\n",
                                  "PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n",
                                  "PROXY UNKNOWNS\r\n",
                                  "PROXY \r\n",
                                  "PROXY TCP4\r\n"}),
                     line) {
  BOOST_TEST((read_proxy_header(line).is == state::malformed));
}

BOOST_AUTO_TEST_CASE(a_zero_in_a_line_is_no_end_of_it) {
  const std::string line("PROXY TCP4 1.1.1.1\0 2.2.2.2 1 2\r\n", 33);
  BOOST_TEST((read_proxy_header(line).is == state::malformed));
}

BOOST_AUTO_TEST_CASE(a_block_of_version_2) {
  const std::string header = v2(0x21, 0x11, block_4);
  check_ends(read_proxy_header(header), end("10.0.0.1", 12345), end("127.0.0.1", 80));
  check_every_cut(header);
  const std::string six(15, '\0');
  check_ends(read_proxy_header(v2(0x21, 0x21, six + "\x01" + six + "\x02" + std::string("\0\x01\0\x02", 4))),
             end("::1", 1), end("::2", 2));
  check_every_cut(v2(0x20, 0x00, ""));  // LOCAL: the proxy's health check
  for (const unsigned family : {0x11U, 0x12U, 0x20U, 0x41U, 0xFFU})
    check_every_cut(v2(0x20, family, "whatever"));  // LOCAL: the rest is ignored
  check_every_cut(v2(0x21, 0x12, block_4));         // datagrams: no client of a stream
  BOOST_TEST(read_proxy_header(v2(0x21, 0x12, block_4)).peer.size == 0U);
  check_every_cut(v2(0x21, 0x00, "whatever"));                               // AF_UNSPEC: the same
  check_every_cut(v2(0x21, 0x31, std::string(216, '/')));                    // a Unix socket's client
  check_every_cut(v2(0x21, 0x11, block_4 + std::string("\xE0\0\x01x", 4)));  // with an extension
}

BOOST_AUTO_TEST_CASE(the_longest_block_is_taken_and_a_longer_one_refused_before_it_comes) {
  const std::string filler((default_max_proxy_header - 16) - 12 - 3, 'x');
  const std::string extension =
      std::string("\x04") + static_cast<char>(filler.size() >> 8U) + static_cast<char>(filler.size() & 0xFFU) + filler;
  check_every_cut(v2(0x21, 0x11, block_4 + extension));
  const std::string longer = v2(0x21, 0x11, block_4 + extension + "x");
  BOOST_TEST((read_proxy_header(longer.substr(0, 16)).is == state::malformed));
}

BOOST_DATA_TEST_CASE(blocks_that_nobody_should_write,
                     bdata::make(std::vector<std::string>{
                         v2(0x11, 0x11, block_4), v2(0x22, 0x11, block_4), v2(0x01, 0x11, block_4),
                         v2(0x21, 0x13, block_4), v2(0x21, 0x41, block_4), v2(0x21, 0x11, block_4.substr(0, 11)),
                         v2(0x21, 0x21, block_4), v2(0x21, 0x31, block_4), v2(0x21, 0x11, block_4 + "x"),
                         v2(0x21, 0x11, block_4 + std::string("\x04\0\x05x", 4)),
                         v2(0x21, 0x11, block_4 + std::string("\x03\0\x01x", 4)), signature.substr(0, 11) + "X"}),
                     header) {
  BOOST_TEST((read_proxy_header(header).is == state::malformed));
}

// Computes CRC-32C bit by bit, without a table.
std::uint32_t crc_of(const std::string& text) {
  std::uint32_t crc = ~0U;
  for (const char c : text) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

const std::string checksum_of_zeros("\x03\0\x04\0\0\0\0", 7);

void put_checksum(std::string& header, std::size_t at, std::uint32_t crc) {
  for (unsigned i = 0; i < 4; ++i) header[at + i] = static_cast<char>(crc >> (24U - 8U * i));
}

// As HAProxy 2.6 with proxy-v2-options crc32c: the checksum covers the header with zeros in the checksum's place.
BOOST_AUTO_TEST_CASE(a_checksum_is_verified) {
  std::string header = v2(0x21, 0x11, block_4 + checksum_of_zeros);
  put_checksum(header, header.size() - 4, crc_of(header));
  check_every_cut(header);
  header.back() = static_cast<char>(header.back() ^ 1);
  BOOST_TEST((read_proxy_header(header).is == state::malformed));
}

/// Solves matrix * x = constant over bits; column i is the effect of bit i of x. Free bits of x are zero.
std::uint32_t solve(const std::array<std::uint32_t, 32>& columns, std::uint32_t constant) {
  std::array<std::uint64_t, 32> rows{};
  for (unsigned row = 0; row < 32; ++row) {
    for (unsigned i = 0; i < 32; ++i) rows[row] |= std::uint64_t{columns[i] >> row & 1U} << i;
    rows[row] |= std::uint64_t{constant >> row & 1U} << 32U;
  }
  std::uint32_t x = 0;
  std::vector<std::pair<unsigned, std::size_t>> pivots;  // bit and row
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::size_t rank = pivots.size();
    const auto has_bit = [bit](std::uint64_t row) { return (row >> bit & 1U) != 0; };
    const auto pivot = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(rank), rows.end(), has_bit);
    if (pivot == rows.end()) continue;
    std::swap(rows[rank], *pivot);
    for (std::size_t row = 0; row < 32; ++row)
      if (row != rank && has_bit(rows[row])) rows[row] ^= rows[rank];
    pivots.emplace_back(bit, rank);
  }
  for (const auto& [bit, row] : pivots) x |= static_cast<std::uint32_t>(rows[row] >> 32U) << bit;
  return x;
}

// A CRC is linear in each bit, so a client can compute several checksums that are all valid; each would cost the server
// a pass over the header. Here there are two, and each covers the header with the other one in it.
BOOST_AUTO_TEST_CASE(a_second_checksum_is_refused_also_when_both_are_right) {
  std::string header = v2(0x21, 0x11, block_4 + checksum_of_zeros + checksum_of_zeros);
  const std::size_t second = header.size() - 4, first = second - 7;
  const std::uint32_t base = crc_of(header);
  const auto effect = [&](std::size_t at, std::uint32_t value) {  // of the value at this place, on the checksum
    std::string changed = header;
    put_checksum(changed, at, value);
    return crc_of(changed) ^ base;
  };
  std::array<std::uint32_t, 32> columns{};
  for (unsigned i = 0; i < 32; ++i) columns[i] = (1U << i) ^ effect(second, effect(first, 1U << i));
  const std::uint32_t one = solve(columns, base ^ effect(second, base)), other = base ^ effect(first, one);
  put_checksum(header, first, one);
  put_checksum(header, second, other);
  for (const auto& [hole, said] : {std::pair(first, one), {second, other}}) {
    std::string with_hole = header;
    put_checksum(with_hole, hole, 0);
    BOOST_TEST_REQUIRE(crc_of(with_hole) == said);
  }
  BOOST_TEST((read_proxy_header(header).is == state::malformed));
}

BOOST_AUTO_TEST_CASE(what_is_written_can_be_read) {
  for (const auto& [peer, local] :
       {std::pair(end("10.0.0.1", 12345), end("127.0.0.1", 80)), {end("2001:db8::1", 1), end("::1", 65535)}})
    for (const proxy_version v : {proxy_version::v1, proxy_version::v2})
      check_ends(read_proxy_header(make_proxy_header(v, peer, local)), peer, local);
  BOOST_TEST(make_proxy_header(proxy_version::v1, end("10.0.0.1", 1), end("127.0.0.1", 2)) ==
             "PROXY TCP4 10.0.0.1 127.0.0.1 1 2\r\n");
  BOOST_TEST(
      (make_proxy_header(proxy_version::v2, end("10.0.0.1", 12345), end("127.0.0.1", 80)) == v2(0x21, 0x11, block_4)));
  // Addresses of two families, or of no IP family, are sent as unknown.
  for (const proxied_end& local : {end("::1", 80), proxied_end{}}) {
    BOOST_TEST(make_proxy_header(proxy_version::v1, end("10.0.0.1", 1), local) == "PROXY UNKNOWN\r\n");
    BOOST_TEST((make_proxy_header(proxy_version::v2, end("10.0.0.1", 1), local) == v2(0x21, 0x00, "")));
  }
  BOOST_TEST(make_proxy_header(proxy_version::none, {}, {}).empty());
}

// Run under a sanitizer. A refused header stays refused, whatever follows it.
BOOST_AUTO_TEST_CASE(headers_with_random_mistakes) {
  std::mt19937 random(1);
  const std::vector<std::string> good{"PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\n", "PROXY TCP6 ::1 ::2 9 10\r\n",
                                      v2(0x21, 0x11, block_4 + std::string("\x04\0\x01x", 4)), v2(0x20, 0x00, "")};
  for (int i = 0; i < 20'000; ++i) {
    std::string header = good[random() % good.size()];
    for (auto mistakes = 1 + random() % 3; mistakes > 0; --mistakes)
      header[random() % header.size()] = static_cast<char>(random());
    const proxy_header cut = read_proxy_header(header.substr(0, random() % header.size())),
                       all = read_proxy_header(header);
    if (cut.is == state::malformed) BOOST_TEST((all.is == state::malformed));
    if (all.is == state::complete) BOOST_TEST(all.size <= header.size());
  }
}

}  // namespace
}  // namespace quintet::proxy_protocol_tests
