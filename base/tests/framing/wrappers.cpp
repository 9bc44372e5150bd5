// SPDX-License-Identifier: BSL-1.0
// wrappers: fixed lengths, checksums, messages in several frames, and codecs within codecs.
#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/base/framing/fixed_length.hpp>
#include <quintet/base/framing/length_prefix.hpp>

#include "support.hpp"

#include <string>
#include <utility>

using namespace quintet;
using namespace quintet::testing;

// A delimiter is not transparent: its messages cannot hold every byte, so other codecs cannot wrap it.
static_assert(codec<delimiter> && !transparent_codec<delimiter>);
static_assert(transparent_codec<checked<varint_prefix>> && wrapping_codec<chunked<checked<length_prefix<2>>>>);

namespace {

std::string in_frames(const auto& wire, bytes message) {
  std::string out;
  BOOST_REQUIRE(!wire.wrap_all(message, [&](const envelope& e) {
    for (const bytes& piece : e.pieces()) out += piece;
  }));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fixed)

BOOST_AUTO_TEST_CASE(messages_come_out_however_they_are_cut) {
  check_round_trip(fixed_length<1>(), {"a", "b", "c"});
  check_round_trip(fixed_length<5>(), {"hello", "world"});
  check_round_trip(fixed_length(7), {"seven b", "ytes an"});
}
BOOST_AUTO_TEST_CASE(another_length_is_refused) {
  BOOST_TEST(refusal(fixed_length<5>(), "four") == errc::malformed_message);
  BOOST_TEST(refusal(fixed_length<5>(), "sixsix") == errc::message_too_big);
  BOOST_TEST(parse_once(fixed_length(9), "a").size == 9U);
}
BOOST_AUTO_TEST_CASE(a_length_that_cannot_be_is_refused_for_its_own_reason) {
  const auto says = [](const char* what) {
    return [what](const config_error& e) { return std::string(e.what()).find(what) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(fixed_length(0), config_error, says("at least 1 byte"));
  BOOST_CHECK_EXCEPTION(fixed_length(largest_max_message + 1), config_error, says("at most"));
  BOOST_CHECK_NO_THROW(fixed_length{largest_max_message});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(checksums)

BOOST_AUTO_TEST_CASE(they_are_xxh3_and_the_same_everywhere) {
  BOOST_TEST(checksum("") == 0x2d06800538d394c2U);  // published with XXH3
  const std::string text(1000, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    BOOST_REQUIRE(checksum(bytes(text).substr(0, cut), bytes(text).substr(cut)) == checksum(text));
}
// Each size has its own way through XXH3, and long data another one on each kind of CPU.
BOOST_AUTO_TEST_CASE(they_are_those_of_portable_code_at_each_size) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7 + i / 256);
  std::uint64_t all = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) all = all * 31 + checksum(bytes(text).substr(0, size));
  BOOST_TEST(all == 0xcd771827389e48b7U);  // by xxHash 0.8.1 with XXH_VECTOR=0
}
BOOST_AUTO_TEST_CASE(messages_come_out_however_they_are_cut) {
  check_round_trip(checked(length_prefix<2>()), {"", "one", std::string(300, 'x')});
  check_round_trip(checked<varint_prefix, 8>(varint_prefix()), {"", "one", std::string(300, 'x')});
  check_round_trip(checked(fixed_length<3>()), {"one", "two"});
}
BOOST_AUTO_TEST_CASE(each_flipped_bit_is_noticed) {
  const checked wire(varint_prefix{});
  const std::string good = framed_as(wire, "a message");
  for (std::size_t bit = 8; bit < good.size() * 8; ++bit) {  // after the length byte
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    BOOST_TEST(parse_once(wire, bad).error == errc::bad_checksum);
  }
}
BOOST_AUTO_TEST_CASE(messages_with_wrong_checksums_are_dropped_below_the_limit) {
  checked wire(varint_prefix(), 3);
  const std::string good = framed_as(wire, "a message");
  std::string bad = good;
  bad.back() ^= 1;
  for (int i = 0; i < 2; ++i) {
    const frame dropped = wire.parse(bad + good);
    BOOST_TEST((dropped.is == frame::state::consumed));
    BOOST_TEST(dropped.size == bad.size());
    BOOST_TEST(dropped.error == errc::bad_checksum);
    BOOST_TEST(wire.parse(good).message == "a message");
  }
  checked another_stream(wire);
  BOOST_TEST((another_stream.parse(bad).is == frame::state::consumed));
  checked moved(std::move(wire));
  BOOST_TEST((moved.parse(bad).is == frame::state::failed));
  moved = checked(varint_prefix(), 2);
  BOOST_TEST((moved.parse(bad).is == frame::state::consumed));
  BOOST_CHECK_THROW(checked(varint_prefix(), 0), config_error);
}
BOOST_AUTO_TEST_CASE(the_limit_is_of_the_message_alone) {
  const checked wire(varint_prefix(65'536));
  BOOST_TEST(wire.max_size() == 65'536U);
  const std::string just(65'536, 'x');
  BOOST_TEST((parse_once(wire, framed_as(wire, just)).message == just));
  BOOST_TEST(refusal(wire, just + 'x') == errc::message_too_big);
  BOOST_TEST(parse_once(wire, encode_varint(65'541).data()).error == errc::message_too_big);
  BOOST_TEST(checked(length_prefix<1>()).max_size() == 251U);
}
BOOST_AUTO_TEST_CASE(a_frame_without_room_for_one_is_malformed) {
  BOOST_TEST(parse_once(checked(length_prefix<1>()), "\3abc").error == errc::malformed_message);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(chunks)

namespace {
const chunking both{.send = true, .receive = true, .max_message = 1000};
}

BOOST_AUTO_TEST_CASE(messages_come_out_however_they_are_cut) {
  const chunked wire(length_prefix<1>(10), both);
  std::vector<std::string> messages;
  std::string stream;
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 9, 10, 11, 20, 21, 100}) {
    messages.emplace_back(size, static_cast<char>('a' + messages.size()));
    stream += in_frames(wire, messages.back());
  }
  check_every_cut(wire, stream, messages);
}
BOOST_AUTO_TEST_CASE(a_message_is_as_long_as_the_limit_and_no_longer) {
  const chunked wire(length_prefix<1>(10), both), wider(length_prefix<1>(10), {.send = true, .max_message = 1001});
  const std::string just(1000, 'm'), over(1001, 'm');
  BOOST_TEST(wire.max_size() == 1000U);
  receiver r(wire);
  BOOST_TEST(r.receive(in_frames(wire, just)));
  BOOST_TEST((r.messages == std::vector{just}));
  BOOST_TEST(wire.wrap_all(over, [](const envelope&) {}) == errc::message_too_big);
  BOOST_TEST(!r.receive(in_frames(wider, over)));
  BOOST_TEST(r.error == errc::message_too_big);
}
BOOST_AUTO_TEST_CASE(each_direction_is_asked_for) {
  const std::string one_frame(10, 'x'), two_frames(11, 'x');
  const chunked sends(length_prefix<1>(10), {.send = true}), receives(length_prefix<1>(10), {.receive = true});
  BOOST_TEST(receives.wrap_all(two_frames, [](const envelope&) {}) == errc::message_too_big);
  BOOST_TEST(refusal(receives, two_frames) == errc::message_too_big);
  BOOST_TEST(refusal(sends, two_frames) == errc::message_too_big);  // not in one frame
  receiver refuses(sends), takes(receives);
  BOOST_TEST(refuses.receive(in_frames(receives, one_frame)));
  BOOST_TEST(!refuses.receive(in_frames(sends, two_frames)));
  BOOST_TEST(refuses.error == errc::message_too_big);
  BOOST_TEST(takes.receive(in_frames(sends, two_frames)));
  BOOST_TEST((takes.messages == std::vector{two_frames}));
}
BOOST_AUTO_TEST_CASE(the_end_within_a_message_is_known_as_such) {
  const chunked wire(length_prefix<1>(10), both);
  receiver r(wire);
  BOOST_TEST(r.receive(in_frames(wire, std::string(15, 'x')).substr(0, 12)));
  BOOST_TEST(r.unused().empty());
  BOOST_TEST(!r.is_between_messages());
}
BOOST_AUTO_TEST_CASE(a_copy_begins_anew) {
  chunked used(length_prefix<1>(10), both);
  BOOST_TEST(used.parse("\2\1x").is == frame::state::consumed);
  chunked copied(used), assigned(length_prefix<1>(1), {});
  assigned = used;
  for (auto* fresh : {&copied, &assigned}) {
    BOOST_TEST(!fresh->within_message());
    BOOST_TEST(fresh->parse(bytes("\2\0y", 3)).message == "y");
  }
}
// A connection that migrates within a message moves its codec.
BOOST_AUTO_TEST_CASE(a_moved_one_goes_on) {
  chunked first(length_prefix<1>(10), both);
  BOOST_TEST(first.parse("\2\1x").is == frame::state::consumed);
  chunked second(std::move(first)), third(length_prefix<1>(10), both);
  BOOST_TEST(second.within_message());
  third = std::move(second);
  BOOST_TEST(third.within_message());
  BOOST_TEST(third.parse(bytes("\2\0y", 3)).message == "xy");
}
BOOST_AUTO_TEST_CASE(a_copy_without_messages_finds_their_ends_and_keeps_nothing) {
  const chunked wire(length_prefix<1>(10), both);
  const std::string stream = in_frames(wire, std::string(900, 'x'));
  chunked without = wire.without_messages();
  for (bytes rest = stream; !rest.empty();) {
    const frame found = without.parse(rest);
    BOOST_REQUIRE(found.size > 0U);
    rest.remove_prefix(found.size);
    BOOST_TEST(((found.is == frame::state::complete) == rest.empty()));
    BOOST_TEST(without.within_message() != rest.empty());
    BOOST_TEST(without.kept_bytes() <= std::string().capacity());
  }
}
BOOST_AUTO_TEST_CASE(frames_that_cannot_be_are_malformed) {
  const chunked wire(length_prefix<1>(), both);
  for (const bytes bad : {bytes("\0", 1), bytes("\1\2", 2), bytes("\1\xff", 2), bytes("\1\1", 2)})
    BOOST_TEST(parse_once(wire, bad).error == errc::malformed_message);
}
BOOST_AUTO_TEST_CASE(a_frame_without_room_for_the_message_cannot_be) {
  BOOST_CHECK_THROW(chunked(length_prefix<1>(0), both), config_error);
}
BOOST_AUTO_TEST_CASE(frames_within_checksums_and_the_other_way_round) {
  const chunked wire(checked(length_prefix<1>(10)), both);
  receiver r(wire);
  const std::string text(35, 'x'), stream = in_frames(wire, text);
  BOOST_TEST(stream.size() == 35U + 4 * (1 + 4 + 1));
  check_every_cut(wire, stream, {text});
  std::string bad = stream;
  bad.back() = 'y';
  BOOST_TEST(!r.receive(bad));
  BOOST_TEST(r.error == errc::bad_checksum);
  receiver patient(chunked(checked(length_prefix<1>(10), 5), both));  // a message with a hole must not come out
  BOOST_TEST(!patient.receive(bad));
  BOOST_TEST(patient.error == errc::bad_checksum);
}

BOOST_AUTO_TEST_SUITE_END()
