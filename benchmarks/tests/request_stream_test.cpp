// SPDX-License-Identifier: BSL-1.0
// request_stream_test.cpp: the bytes of requests: the same in any pieces, different for any other request.
#include "load/request_stream.hpp"

#include <boost/test/unit_test.hpp>

#include <random>
#include <set>
#include <string>

using namespace quintet::bench;

namespace {

std::string produced(const request_stream& s, std::uint64_t position, std::size_t length) {
  std::string out(length, '\0');
  s.produce(position, out.data(), length);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(request_streams)

BOOST_AUTO_TEST_CASE(the_header_is_connection_and_sequence_number) {
  const message_pattern pattern(16);
  const request_stream s(pattern, 16, 0x01020304, 41);
  const std::string bytes = produced(s, 16, 16);  // the second message
  BOOST_TEST(load_big_endian(bytes.data()) == 0x01020304u);
  BOOST_TEST(load_big_endian(bytes.data() + 4) == 42u);
}

BOOST_AUTO_TEST_CASE(a_prefix_counts_what_follows_it_with_its_highest_byte_first) {
  constexpr std::size_t prefix = prefix_bytes(work_kind::framed), size = prefix + 300;
  const message_pattern pattern(size);
  const std::string bytes = produced(request_stream(pattern, size, 0x01020304, 41, prefix), size, size);
  BOOST_TEST(bytes.substr(0, prefix) == "\x01\x2c");
  BOOST_TEST(load_big_endian(bytes.data() + prefix) == 0x01020304u);
  BOOST_TEST(load_big_endian(bytes.data() + prefix + 4) == 42u);
  const std::string body =
      produced(request_stream(pattern, size - prefix, 0x01020304, 41), size - prefix, size - prefix);
  BOOST_TEST(bytes.substr(prefix) == body);
}

BOOST_AUTO_TEST_CASE(any_pieces_are_the_same_bytes) {
  std::mt19937 random(3);
  for (const std::size_t size : {10u, 11u, 64u, 1000u, 8u, 9u}) {
    const message_pattern pattern(size);
    const request_stream s(pattern, size, 5, 7, size < 10 ? 0 : prefix_bytes(work_kind::framed));
    const std::string whole = produced(s, 0, 20 * size);
    for (std::size_t at = 0; at < whole.size();) {
      const auto n = std::min<std::size_t>(whole.size() - at, 1 + random() % (2 * size));
      BOOST_REQUIRE(produced(s, at, n) == whole.substr(at, n));
      BOOST_REQUIRE(s.matches(at, std::string_view(whole).substr(at, n)));
      at += n;
    }
  }
}

BOOST_AUTO_TEST_CASE(every_single_wrong_bit_is_seen) {
  constexpr std::size_t size = 24;
  const message_pattern pattern(size);
  const request_stream s(pattern, size, 5, 7, prefix_bytes(work_kind::framed));
  std::string bytes = produced(s, 0, 3 * size);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto flip = static_cast<char>(1 << bit % 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flip);
    BOOST_REQUIRE(!s.matches(0, bytes));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flip);
  }
}

BOOST_AUTO_TEST_CASE(requests_differ_by_connection_and_sequence) {
  constexpr std::size_t size = 64;
  const message_pattern pattern(size);
  std::set<std::string> bodies;
  for (std::uint32_t connection = 0; connection < 50; ++connection) {
    const request_stream s(pattern, size, connection, connection);
    for (std::uint64_t m = 0; m < 20; ++m) bodies.insert(produced(s, m * size, size).substr(header_bytes));
  }
  BOOST_TEST(bodies.size() > 800u);  // bodies begin at 4,096 places, so a few of a thousand coincide; headers never do
}

BOOST_AUTO_TEST_SUITE_END()
