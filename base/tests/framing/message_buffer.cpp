// SPDX-License-Identifier: BSL-1.0
// message_buffer: headers are prepended without moving the payload; envelopes check their bounds.
#include <quintet/base/framing/message_buffer.hpp>

#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/base/framing/length_prefix.hpp>

#include "support.hpp"

#include <stdexcept>
#include <string>
#include <utility>

using namespace quintet;
using namespace quintet::testing;

BOOST_AUTO_TEST_SUITE(message_buffers)

BOOST_AUTO_TEST_CASE(an_id_and_a_length_move_nothing) {
  const std::string payload(1000, 'p');
  message_buffer m(payload);
  const char* const place = m.data().data();
  m.prepend("8-bytes.");
  BOOST_TEST(!length_prefix<4>().wrap(m));
  BOOST_TEST((m.data().data() == place - 12));
  BOOST_TEST((m.data() == std::string("\0\0\3\xf0", 4) + "8-bytes." + payload));
  BOOST_TEST(m.headroom() == message_buffer::default_headroom - 12);
}
BOOST_AUTO_TEST_CASE(beyond_the_headroom_it_still_works) {
  message_buffer m("c", 1);
  m.prepend("b");
  m.prepend("aaaa");
  BOOST_TEST(m.data() == "aaaabc");
  m.append("d");
  BOOST_TEST(m.data() == "aaaabcd");
  BOOST_TEST(m.size() == 7U);
}
BOOST_AUTO_TEST_CASE(an_empty_one_takes_no_memory_and_can_be_prepended_to) {
  message_buffer m;
  BOOST_TEST(m.empty());
  BOOST_TEST(m.data() == "");
  m.append("");
  m.prepend("");
  BOOST_TEST(m.empty());
  m.prepend("header");
  BOOST_TEST(m.data() == "header");
}
BOOST_AUTO_TEST_CASE(cleared_it_has_its_headroom_and_its_memory_again) {
  message_buffer m(std::string(500, 'x'));
  m.prepend("header");
  const char* const place = m.data().data();
  m.clear();
  BOOST_TEST(m.empty());
  BOOST_TEST(m.headroom() == message_buffer::default_headroom);
  m.append(std::string(500, 'y'));
  BOOST_TEST((m.data().data() == place + 6));
}
BOOST_AUTO_TEST_CASE(it_takes_parts_of_itself) {
  message_buffer m(bytes("abc"), 0);
  std::string expected = "abc";
  for (int i = 0; i < 8; ++i) {
    m.append(m.data().substr(1));
    expected += expected.substr(1);
    m.prepend(m.data().substr(0, 2));
    expected.insert(0, expected.substr(0, 2));
    BOOST_TEST(m.data() == expected);
  }
}
BOOST_AUTO_TEST_CASE(moved_from_it_is_empty_and_of_use) {
  message_buffer a("text", 3);
  message_buffer& emptied = a;
  message_buffer b(std::move(a));
  BOOST_TEST(b.data() == "text");
  emptied.append("again");
  BOOST_TEST(emptied.data() == "again");
  b = std::move(emptied);
  BOOST_TEST(b.data() == "again");
}
BOOST_AUTO_TEST_CASE(every_codec_wraps_it_as_it_wraps_an_envelope) {
  const auto check = [](const auto& wire) {
    message_buffer m("a message");
    BOOST_TEST(!wire.wrap(m));
    BOOST_TEST(m.data() == framed_as(wire, "a message"));
  };
  check(length_prefix<8>());
  check(varint_prefix());
  check(delimiter("\r\n"));
  check(checked(varint_prefix()));
  check(chunked(checked(length_prefix<2>()), {}));
}
BOOST_AUTO_TEST_CASE(an_envelope_has_room_for_so_much) {
  const std::string most(envelope::header_room, 'h');
  envelope e("payload");
  e.prepend(most);
  BOOST_CHECK_THROW(e.prepend("x"), std::length_error);
  e.append("1");
  BOOST_CHECK_THROW(e.append("2"), std::length_error);
  BOOST_TEST(e.size() == most.size() + 8);
}

BOOST_AUTO_TEST_SUITE_END()
