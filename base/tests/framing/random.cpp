// SPDX-License-Identifier: BSL-1.0
// random: many messages with random cuts arrive as sent; random bytes only cause errors within the limits.
#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/base/framing/fixed_length.hpp>
#include <quintet/base/framing/length_prefix.hpp>

#include "support.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

using namespace quintet;
using namespace quintet::testing;

namespace {

constexpr int messages = 20'000;  // per codec

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(seed) {}
  std::size_t up_to(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random_); }
  /// Returns a random length, mostly a short one.
  std::size_t length() { return up_to(9) == 0 ? up_to(2000) : up_to(40); }
  std::string text(std::size_t size, bytes alphabet) {
    std::string out(size, '\0');
    for (char& c : out) c = alphabet[up_to(alphabet.size() - 1)];
    return out;
  }
  std::string noise(std::size_t size) {
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(random_());
    return out;
  }

 private:
  std::mt19937_64 random_;
};

/// `make` returns a message that may be sent; `wrap` returns its frames.
template <class Codec, class Make, class Wrap>
void check_random_messages(std::uint64_t seed, const Codec& wire, Make make, Wrap wrap) {
  dice d(seed);
  receiver<Codec> r(wire);
  std::string waiting;
  std::vector<std::string> expected;
  for (int i = 0; i < messages; ++i) {
    expected.push_back(make(d));
    waiting += wrap(wire, expected.back());
    while (!waiting.empty() && d.up_to(2) != 0) {
      const std::size_t cut = std::min(waiting.size(), d.length());
      BOOST_REQUIRE(r.receive(waiting.substr(0, cut)));
      waiting.erase(0, cut);
    }
  }
  BOOST_REQUIRE(r.receive(waiting));
  BOOST_TEST(r.is_between_messages());
  BOOST_TEST((r.messages == expected));
}
template <class Codec, class Make>
void check_random_messages(std::uint64_t seed, const Codec& wire, Make make) {
  check_random_messages(seed, wire, make, [](const Codec& c, bytes m) { return framed_as(c, m); });
}
std::string any_message(dice& d) { return d.noise(d.length()); }

template <class Codec>
void feed_noise(std::uint64_t seed, const Codec& wire, std::size_t max_frame) {
  dice d(seed);
  for (int stream = 0; stream < 2'000; ++stream) {
    receiver<Codec> r(wire);
    for (int piece = 0; piece < 20; ++piece) {
      // Small numbers are more likely to be valid lengths and flags than random bytes.
      if (!r.receive(d.up_to(1) ? d.noise(d.length()) : d.text(d.length(), bytes("\0\1\2\3\r\n\x80", 7)))) {
        BOOST_REQUIRE(r.error.failed());
        break;
      }
      BOOST_REQUIRE(r.needed <= max_frame);  // the limit of what a connection must keep
      BOOST_REQUIRE(r.unused().size() < max_frame);
    }
    for (const std::string& m : r.messages) BOOST_REQUIRE(m.size() <= max_frame);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_bytes)

BOOST_AUTO_TEST_CASE(messages_come_out_of_prefixes) {
  check_random_messages(1, length_prefix<4>(), any_message);
  check_random_messages(2, length_prefix<2, std::endian::little>(), any_message);
  check_random_messages(3, varint_prefix(), any_message);
}
BOOST_AUTO_TEST_CASE(messages_come_out_of_frames_with_a_length_inside) {
  const length_prefix<4, std::endian::big, 1, -4> typed;
  const length_prefix<2, std::endian::little, 5, -7> whole;
  const auto frame_of = [](const auto& wire, std::size_t header) {
    return [wire, header](dice& d) { return framed_as(wire, d.noise(header + d.length())); };
  };
  check_random_messages(21, typed, frame_of(typed, 5));
  check_random_messages(22, whole, frame_of(whole, 7));
  check_random_messages(23, length_prefix<3, std::endian::little, 0, 1>(),
                        [](dice& d) { return d.noise(1 + d.length()); });
  check_random_messages(24, length_prefix<4, std::endian::little, 0, -4>(), any_message);
}
BOOST_AUTO_TEST_CASE(messages_come_out_of_fixed_lengths) {
  check_random_messages(4, fixed_length<16>(), [](dice& d) { return d.noise(16); });
}
// The messages have few letters, so that they contain many beginnings of the delimiter.
BOOST_AUTO_TEST_CASE(messages_come_out_of_delimiters) {
  const delimiter wire("\r\r\n");
  check_random_messages(5, wire, [&](dice& d) {
    std::string m;
    do m = d.text(d.length() % 40, "\r\nx");
    while (refusal(wire, m));
    return m;
  });
}
BOOST_AUTO_TEST_CASE(messages_come_out_of_checksums_and_chunks) {
  check_random_messages(6, checked(varint_prefix()), any_message);
  check_random_messages(7, chunked(checked(length_prefix<1>()), {.send = true, .receive = true}), any_message,
                        [](const auto& wire, bytes m) {
                          std::string out;
                          BOOST_REQUIRE(!wire.wrap_all(m, [&](const envelope& e) {
                            for (const bytes& piece : e.pieces()) out += piece;
                          }));
                          return out;
                        });
}

BOOST_AUTO_TEST_CASE(noise_ends_in_an_error_or_in_small_messages) {
  constexpr std::size_t max = 1000;
  feed_noise(11, length_prefix<1>(max), 1 + 255);
  feed_noise(12, length_prefix<2>(max), 2 + max);
  feed_noise(13, length_prefix<8, std::endian::little>(max), 8 + max);
  feed_noise(14, varint_prefix(max), 2 + max);
  feed_noise(19, length_prefix<1, std::endian::big, 1, -2>(max), 255);
  feed_noise(20, length_prefix<2, std::endian::little, 0, 1>(max), 2 + max);
  feed_noise(15, fixed_length<100>(), 100);
  feed_noise(16, delimiter("\r\n", max), max + 2);
  feed_noise(17, checked(varint_prefix(max)), 2 + 4 + max);
  feed_noise(18, chunked(length_prefix<1>(max), {.receive = true, .max_message = max}), max);
}

BOOST_AUTO_TEST_SUITE_END()
