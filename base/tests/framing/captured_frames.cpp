// SPDX-License-Identifier: BSL-1.0
// captured_frames: length_prefix with an offset and an adjustment, with bytes that clients and servers of four
// protocols have sent: psql 15, MariaDB 10.11 with PyMySQL 1.2, PyMongo 4.20 and the Python driver of Cassandra.
#include <quintet/base/framing/length_prefix.hpp>
#include <quintet/base/framing/message_buffer.hpp>

#include "support.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;

namespace {

using postgresql_start = length_prefix<4, std::endian::big, 0, -4>;  // the first message has no type
using postgresql = length_prefix<4, std::endian::big, 1, -4>;
using mysql = length_prefix<3, std::endian::little, 0, 1>;
using mongodb = length_prefix<4, std::endian::little, 0, -4>;
using cassandra = length_prefix<4, std::endian::big, 5>;

std::string from_hex(bytes text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return out;
}

const std::string psql_start = from_hex(
    "0000003c000300007573657200706f73746772657300646174616261736500706f737467726573006170706c69636174696f6e5f6e616d6500"
    "710000");
const std::string psql_query =  // "select 1 as a, 'x' as b", then the end
    from_hex("510000001c73656c656374203120617320612c202778272061732062005800000004");
const std::string postgres_answer =  // columns, a row, its end, ready
    from_hex(
        "540000002e00026100000000000000000000170004ffffffff0000620000000000000000000019ffffffffffff000044000000100002"
        "00000001310000000178430000000d53454c4543542031005a0000000549");
const std::string mariadb_answer =  // to "select 1": the number of columns, one column, an end, a row, an end
    from_hex(
        "0100000101170000020364656600000001"
        "31000c3f000100000003810000000005000003fe0000000002000004013105000005fe00000000");
const std::string pymysql_queries =  // "SET AUTOCOMMIT = 0", "select 1", then the end
    from_hex("1300000003534554204155544f434f4d4d4954203d2030090000000373656c65637420310100000001");
const std::string pymongo_ping =
    from_hex("3300000067458b6b00000000dd07000000000000001e0000001070696e67000100000002246462000600000061646d696e0000");
const std::string cassandra_start =  // OPTIONS, then STARTUP
    from_hex("0400000005000000000400000101000000160001000b43514c5f56455253494f4e0005332e342e35");

/// Receives the frames, cut at each place, and makes the same frames of their messages.
template <class Codec>
std::vector<std::string> messages_of(const Codec& wire, const std::string& stream) {
  receiver<Codec> r(wire);
  BOOST_REQUIRE(r.receive(stream));
  BOOST_TEST(r.is_between_messages());
  check_every_cut(wire, stream, r.messages);
  std::string in_place, in_buffers;
  for (const std::string& m : r.messages) {
    in_place += framed_as(wire, m);
    message_buffer buffer(m);
    BOOST_REQUIRE(!wire.wrap(buffer));
    in_buffers += buffer.data();
  }
  BOOST_TEST((in_place == stream));
  BOOST_TEST((in_buffers == stream));
  return r.messages;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(captured_frames)

BOOST_AUTO_TEST_CASE(postgresql_counts_the_length_but_not_the_type_before_it) {
  const auto start = messages_of(postgresql_start(), psql_start);
  BOOST_TEST(start.size() == 1U);
  BOOST_TEST((start.at(0) == psql_start.substr(4)));
  const auto asked = messages_of(postgresql(), psql_query);
  BOOST_TEST(asked.size() == 2U);
  BOOST_TEST((asked.at(0) == psql_query.substr(0, 29)));  // the whole frame, because the type is a part of it
  BOOST_TEST((asked.at(1) == psql_query.substr(29)));
  std::string types;
  for (const std::string& m : messages_of(postgresql(), postgres_answer)) types += m.front();
  BOOST_TEST(types == "TDCZ");
}
BOOST_AUTO_TEST_CASE(mysql_does_not_count_the_number_that_follows_the_length) {
  const auto asked = messages_of(mysql(), pymysql_queries);
  BOOST_TEST(asked.size() == 3U);
  BOOST_TEST((asked.at(1) == std::string("\0\3select 1", 10)));  // packet 0, command 3
  const auto answered = messages_of(mysql(), mariadb_answer);
  std::string numbers;
  for (const std::string& m : answered) numbers += static_cast<char>('0' + m.front());
  BOOST_TEST(numbers == "12345");
}
BOOST_AUTO_TEST_CASE(mongodb_counts_the_length_too) {
  const auto asked = messages_of(mongodb(), pymongo_ping + pymongo_ping);
  BOOST_TEST(asked.size() == 2U);
  BOOST_TEST((asked.at(1) == pymongo_ping.substr(4)));
}
BOOST_AUTO_TEST_CASE(cassandra_has_the_length_at_the_end_of_its_header) {
  const auto asked = messages_of(cassandra(), cassandra_start);
  BOOST_TEST(asked.size() == 2U);
  BOOST_TEST((asked.at(0) == cassandra_start.substr(0, 9)));
}

BOOST_AUTO_TEST_CASE(the_sender_leaves_room_for_the_length_and_wrap_fills_it) {
  BOOST_TEST((framed_as(postgresql(), "Q????select 1\0") == std::string("Q\0\0\0\14select 1", 13)));
  BOOST_TEST((framed_as(cassandra(), "vfssohead") == std::string("vfsso\0\0\0\0", 9)));
}
// The header may lie in two pieces, because another codec may have put bytes before the message.
BOOST_AUTO_TEST_CASE(the_header_is_found_in_both_pieces_of_an_envelope) {
  for (std::size_t before = 0; before <= 13; ++before) {
    const std::string all = "Q????select 1";
    envelope e(bytes(all).substr(before));
    e.prepend(bytes(all).substr(0, before));
    BOOST_REQUIRE(!postgresql().wrap(e));
    std::string out;
    for (const bytes& piece : e.pieces()) out += piece;
    BOOST_TEST((out == std::string("Q\0\0\0\14select 1", 13)));
  }
}

BOOST_AUTO_TEST_CASE(a_length_below_what_it_counts_is_malformed) {
  for (const char least : {'\0', '\1', '\2', '\3'}) {
    BOOST_TEST(parse_once(postgresql(), std::string("Q\0\0\0", 4) + least).error == errc::malformed_message);
    BOOST_TEST(parse_once(postgresql_start(), std::string(3, '\0') + least).error == errc::malformed_message);
    BOOST_TEST(parse_once(mongodb(), least + std::string(3, '\0')).error == errc::malformed_message);
  }
  BOOST_TEST(parse_once(postgresql(), std::string("Q\0\0\0\4", 5)).message.size() == 5U);
  BOOST_TEST(parse_once(mongodb(), std::string("\4\0\0\0", 4)).size == 4U);
}
BOOST_AUTO_TEST_CASE(a_message_without_its_header_is_malformed) {
  BOOST_TEST(refusal(postgresql(), "Q???") == errc::malformed_message);
  BOOST_TEST(refusal(cassandra(), "") == errc::malformed_message);
  BOOST_TEST(refusal(mysql(), "") == errc::malformed_message);
  message_buffer buffer(bytes("Q???"));
  BOOST_TEST(postgresql().wrap(buffer) == errc::malformed_message);
}
BOOST_AUTO_TEST_CASE(limits_are_of_the_message_and_hold_before_it_arrives) {
  const postgresql wire(100);
  BOOST_TEST(wire.max_size() == 100U);
  BOOST_TEST(framed_as(wire, std::string(100, 'x')).size() == 100U);
  BOOST_TEST(refusal(wire, std::string(101, 'x')) == errc::message_too_big);
  BOOST_TEST(parse_once(wire, bytes("Q\0\0\0\x63", 5)).size == 100U);
  BOOST_TEST(parse_once(wire, bytes("Q\0\0\0\x64", 5)).error == errc::message_too_big);
  BOOST_TEST(parse_once(mysql(100), bytes("\x63\0\0", 3)).size == 103U);
  BOOST_TEST(parse_once(mysql(100), bytes("\x64\0\0", 3)).error == errc::message_too_big);
}
BOOST_AUTO_TEST_CASE(the_largest_length_neither_overflows_nor_is_written_as_another) {
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  using tiny = length_prefix<1, std::endian::big, 2, -3>;
  BOOST_TEST(tiny(any).max_size() == 255U);
  BOOST_TEST(framed_as(tiny(any), std::string(255, 'x')).at(2) == '\xff');
  BOOST_TEST(refusal(tiny(any), std::string(256, 'x')) == errc::message_too_big);
  BOOST_TEST((length_prefix<1, std::endian::big, 0, 1>(any).max_size() == 256U));
  using wide = length_prefix<8, std::endian::big, 1, -9>;
  for (const char first : {'\x40', '\x7f', '\xff'})
    BOOST_TEST(parse_once(wide(any), std::string("t") + first + std::string(7, '\xff')).error == errc::message_too_big);
}

// Bytes of another codec at the front of a message would be taken for its header.
static_assert(!transparent_codec<postgresql> && !transparent_codec<mysql> && !transparent_codec<cassandra>);
static_assert(transparent_codec<mongodb>);

BOOST_AUTO_TEST_SUITE_END()
