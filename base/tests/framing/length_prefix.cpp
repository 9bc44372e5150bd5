// SPDX-License-Identifier: BSL-1.0
// length_prefix: all widths, both byte orders, varints; limits are checked before the message arrives.
#include <quintet/base/framing/length_prefix.hpp>

#include "support.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <tuple>

using namespace quintet;
using namespace quintet::testing;

namespace {

template <std::size_t Width>
using big = length_prefix<Width, std::endian::big>;
template <std::size_t Width>
using little = length_prefix<Width, std::endian::little>;
using all_prefixes = std::tuple<big<1>, big<2>, big<3>, big<4>, big<5>, big<6>, big<7>, big<8>, little<1>, little<2>,
                                little<3>, little<4>, little<5>, little<6>, little<7>, little<8>, varint_prefix>;

std::string raw(std::initializer_list<int> values) {
  std::string out;
  for (const int v : values) out += static_cast<char>(v);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(length_prefixes)

BOOST_AUTO_TEST_CASE_TEMPLATE(messages_come_out_however_they_are_cut, Prefix, all_prefixes) {
  check_round_trip(Prefix(), {"", "a", std::string(3, '\0'), "hello", std::string(200, 'x'), ""});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_message_is_as_long_as_the_limit_and_no_longer, Prefix, all_prefixes) {
  const Prefix small(100), larger(101);
  const std::string just(100, 'm'), over(101, 'm');
  BOOST_TEST((parse_once(small, framed_as(small, just)).message == just));
  BOOST_TEST(refusal(small, over) == errc::message_too_big);
  const std::string stream = framed_as(larger, over);
  const std::string header = stream.substr(0, stream.size() - over.size());
  BOOST_TEST(parse_once(small, header).error == errc::message_too_big);  // no byte of the message has arrived
}

BOOST_AUTO_TEST_CASE(the_limit_is_64_kib_by_default) {
  const length_prefix<4> wire;
  BOOST_TEST(framed_as(wire, std::string(65'536, 'x')).size() == 65'540U);
  BOOST_TEST(refusal(wire, std::string(65'537, 'x')) == errc::message_too_big);
  BOOST_TEST(parse_once(wire, raw({0, 1, 0, 1})).error == errc::message_too_big);
  BOOST_TEST(parse_once(wire, raw({0, 1, 0, 0})).size == 65'540U);
}

BOOST_AUTO_TEST_CASE(bytes_lie_in_the_order_that_is_asked_for) {
  BOOST_TEST(framed_as(big<3>(), "ab") == raw({0, 0, 2}) + "ab");
  BOOST_TEST(framed_as(little<3>(), "ab") == raw({2, 0, 0}) + "ab");
  BOOST_TEST(framed_as(big<2>(), std::string(258, 'x')).substr(0, 2) == raw({1, 2}));
  BOOST_TEST(framed_as(little<2>(), std::string(258, 'x')).substr(0, 2) == raw({2, 1}));
  BOOST_TEST(framed_as(varint_prefix(), std::string(300, 'x')).substr(0, 2) == raw({0xac, 0x02}));
  BOOST_TEST(framed_as(varint_prefix(), std::string(127, 'x')).size() == 128U);
  BOOST_TEST(framed_as(varint_prefix(), std::string(128, 'x')).size() == 130U);
}

BOOST_AUTO_TEST_CASE(a_narrow_prefix_cannot_say_more_than_it_has_bytes_for) {
  BOOST_TEST(big<1>().max_size() == 255U);
  BOOST_TEST(framed_as(big<1>(), std::string(255, 'x')).size() == 256U);
  BOOST_TEST(refusal(big<1>(), std::string(256, 'x')) == errc::message_too_big);
  BOOST_TEST(refusal(big<2>(), std::string(65'536, 'x')) == errc::message_too_big);
}

// Lengths must not overflow: the sum with the header's length would wrap to a small number.
BOOST_AUTO_TEST_CASE(absurd_lengths_are_refused_at_once) {
  const std::size_t any = std::numeric_limits<std::size_t>::max();
  BOOST_TEST(parse_once(big<8>(), raw({0x10, 0, 0, 0, 0, 0, 0, 0})).error == errc::message_too_big);
  BOOST_TEST(parse_once(big<8>(any), std::string(8, '\xff')).error == errc::message_too_big);
  BOOST_TEST(parse_once(little<8>(any), std::string(8, '\xff')).error == errc::message_too_big);
  BOOST_TEST(parse_once(varint_prefix(any), std::string(9, '\xff') + '\1').error == errc::message_too_big);
}

BOOST_AUTO_TEST_CASE(it_says_how_much_is_missing) {
  BOOST_TEST(parse_once(big<4>(), "").size == 4U);
  BOOST_TEST(parse_once(big<4>(), raw({0, 0, 0})).size == 4U);
  BOOST_TEST(parse_once(big<4>(), raw({0, 0, 4, 0}) + "part").size == 1028U);
  BOOST_TEST(parse_once(varint_prefix(), "").size == 1U);
  BOOST_TEST(parse_once(varint_prefix(), raw({0x80})).size == 2U);
}

BOOST_AUTO_TEST_CASE(varints_that_are_longer_than_they_need_be_are_malformed) {
  for (const std::string& bad : {raw({0x80, 0}), raw({0xff, 0}), raw({0x80, 0x80, 0}), raw({0x81, 0x80, 0x80, 0})})
    BOOST_TEST(parse_once(varint_prefix(), bad).error == errc::malformed_message);
}

BOOST_AUTO_TEST_CASE(varints_of_more_than_64_bits_are_malformed) {
  const std::string nine(9, '\xff');
  BOOST_TEST(parse_once(varint_prefix(), nine + '\2').error == errc::malformed_message);
  BOOST_TEST(parse_once(varint_prefix(), nine + '\x80').error == errc::malformed_message);
  BOOST_TEST(parse_once(varint_prefix(), nine + '\xff').error == errc::malformed_message);
}

BOOST_AUTO_TEST_CASE(numbers_survive_their_encoding) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t n : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1, ~std::uint64_t{0} << bit}) {
      const auto v = encode_varint(n);
      const auto back = decode_varint(v.data());
      BOOST_REQUIRE(back.has_value());
      BOOST_TEST(back->value == n);
      BOOST_TEST(back->size == v.size);
      for (std::size_t cut = 0; cut < v.size; ++cut) BOOST_TEST(decode_varint(v.data().substr(0, cut))->size == 0U);
      const auto b = encode_number<8, std::endian::big>(n);
      BOOST_TEST((decode_number<8, std::endian::big>({b.data(), b.size()}) == n));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
