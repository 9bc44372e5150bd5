// SPDX-License-Identifier: BSL-1.0
// stamp_stream_test.cpp: times as requests: whole in any pieces, never twice the same, answered by one more.
#include "load/stamp_stream.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace quintet::bench;

namespace {

constexpr std::size_t depth = 4, size = stamp_stream::message_bytes;

std::string produced(stamp_stream& s, std::uint64_t position, std::size_t length) {
  std::string out(length, '\0');
  s.produce(position, out.data(), length);
  return out;
}

std::string answered(std::string requests, std::uint64_t added = 1) {
  for (std::size_t at = 0; at < requests.size(); at += size)
    store_big_endian_64(requests.data() + at, load_big_endian_64(requests.data() + at) + added);
  return requests;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stamp_streams)

BOOST_AUTO_TEST_CASE(a_request_is_the_time_in_microseconds) {
  using namespace std::chrono;
  const auto now = [] {
    return static_cast<std::uint64_t>(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
  };
  stamp_stream s(depth);
  const auto before = now();
  const auto stamp = load_big_endian_64(produced(s, 0, size).data());
  BOOST_TEST(stamp >= before);
  BOOST_TEST(stamp <= now());
}

BOOST_AUTO_TEST_CASE(no_two_are_the_same) {
  stamp_stream s(depth);
  std::uint64_t last = 0;
  for (std::uint64_t message = 0; message < 1000; ++message) {
    const auto next = load_big_endian_64(produced(s, message * size, size).data());
    BOOST_REQUIRE(next > last);
    last = next;
  }
}

BOOST_AUTO_TEST_CASE(what_was_sent_in_part_goes_on_as_it_began) {
  stamp_stream s(depth);
  const std::string all = produced(s, 0, 2 * size);
  const std::string rest = produced(s, 3, 2 * size - 3);
  BOOST_TEST(rest.substr(0, size - 3) == all.substr(3, size - 3));
  BOOST_TEST(rest.substr(size - 3) != all.substr(size));  // nothing of the second one had left: it is stamped anew
}

BOOST_AUTO_TEST_CASE(replies_match_in_any_pieces) {
  stamp_stream s(depth);
  const std::string replies = answered(produced(s, 4 * size, depth * size));
  for (std::size_t at = 0; at < replies.size(); ++at) {
    for (std::size_t n = 1; n <= replies.size() - at; ++n)
      BOOST_REQUIRE(s.matches(4 * size + at, std::string_view(replies).substr(at, n)));
  }
}

BOOST_AUTO_TEST_CASE(every_wrong_bit_and_every_other_sum_is_seen) {
  stamp_stream s(depth);
  const std::string requests = produced(s, 0, depth * size);
  for (const std::uint64_t wrong : {0, 2, 255, 256}) BOOST_TEST(!s.matches(0, answered(requests, wrong)));
  const std::string right = answered(requests);
  for (std::size_t bit = 0; bit < 8 * right.size(); ++bit) {
    std::string wrong = right;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << (bit % 8)));
    BOOST_REQUIRE(!s.matches(0, wrong));
  }
  BOOST_TEST(!s.matches(size, right.substr(0, size)));  // the reply to another request
}

BOOST_AUTO_TEST_SUITE_END()
