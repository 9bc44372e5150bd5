// SPDX-License-Identifier: BSL-1.0
// byte_buffer_test: bytes appended at the back are read at the front, whatever moves in between.
#include <quintet/base/memory/byte_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <utility>

namespace quintet {
namespace {

BOOST_AUTO_TEST_CASE(a_new_one_is_empty_and_holds_no_storage) {
  const byte_buffer b;
  BOOST_TEST(b.empty());
  BOOST_TEST(b.size() == 0u);
  BOOST_TEST(b.capacity() == 0u);
  BOOST_TEST(b.data() == "");
}

BOOST_AUTO_TEST_CASE(capacity_that_was_asked_for_is_used) {
  byte_buffer b(100);
  BOOST_TEST(b.empty());
  b.append(std::string(100, 'x'));
  BOOST_TEST(b.capacity() == 100u);
  b.append("y");
  BOOST_TEST(b.capacity() >= 200u);  // doubles, so that appending is cheap on average
  std::string both(100, 'x');
  both += 'y';
  BOOST_TEST(b.data() == both);
}

BOOST_AUTO_TEST_CASE(appending_nothing_allocates_nothing) {
  byte_buffer b;
  b.append({});
  BOOST_TEST(b.capacity() == 0u);
}

BOOST_AUTO_TEST_CASE(consuming_all_makes_all_room_usable_again) {
  byte_buffer b(8);
  for (int i = 0; i < 1000; ++i) {
    b.append("12345678");
    b.consume(3);
    BOOST_REQUIRE(b.data() == "45678");
    b.consume(5);
    BOOST_REQUIRE(b.empty());
  }
  BOOST_TEST(b.capacity() == 8u);
}

BOOST_AUTO_TEST_CASE(what_was_reserved_is_filled_without_moving) {
  byte_buffer b(16);
  b.append("0123456789");
  b.consume(4);
  b.reserve(1000);
  BOOST_TEST(b.capacity() == 1000u);  // exactly as requested, without doubling
  BOOST_TEST(b.data() == "456789");
  const char* const place = b.data().data();
  b.append(std::string(994, 'x'));
  BOOST_TEST((b.data().data() == place));
  BOOST_TEST(b.size() == 1000u);
  b.consume(999);
  b.reserve(500);
  BOOST_TEST(b.capacity() == 1000u);
  BOOST_TEST(b.data() == "x");
}

BOOST_AUTO_TEST_CASE(reserving_what_is_there_changes_nothing) {
  byte_buffer none;
  none.reserve(0);
  BOOST_TEST(none.capacity() == 0u);
  byte_buffer b(100);
  b.append("abc");
  b.consume(1);
  const char* const place = b.data().data();
  b.reserve(99);
  BOOST_TEST((b.data().data() == place));
}

// A peer that announces much and sends little costs little memory.
BOOST_AUTO_TEST_CASE(room_for_what_is_announced_follows_what_has_come) {
  constexpr std::size_t much = 64 * 1024 * 1024, first = byte_buffer::announced_room;
  byte_buffer small(16), b(16);
  small.reserve_announced(10, 20);
  BOOST_TEST(small.capacity() == 16u);  // has room for 10 bytes
  small.append("0123456789");
  small.reserve_announced(10, 20);
  BOOST_TEST(small.capacity() == 20u);
  small.append("0123456789");
  small.reserve_announced(100, 20);  // more has arrived than was announced
  BOOST_TEST(small.capacity() == 120u);
  std::size_t moved = 0;
  while (b.size() < much) {
    const std::size_t before = b.capacity(), more = std::min({b.size() + 4, first / 8, much - b.size()});
    b.reserve_announced(more, much);
    moved += b.capacity() != before;
    BOOST_REQUIRE(b.capacity() <= std::max(first, 5 * (b.size() + more)));
    BOOST_REQUIRE(b.space().size() >= more);
    b.append(std::string(more, 'x'));
  }
  BOOST_TEST(b.capacity() == much);
  BOOST_TEST(moved <= 5u);
}

BOOST_AUTO_TEST_CASE(nearly_enough_room_is_made_enough) {
  byte_buffer b;
  b.reserve_announced(1, byte_buffer::announced_room + 4);
  BOOST_TEST(b.capacity() == byte_buffer::announced_room + 4);
}

BOOST_AUTO_TEST_CASE(what_is_put_into_the_space_is_there_once_it_is_committed) {
  byte_buffer b(8);
  b.append("ab");
  const std::span<char> space = b.space();
  BOOST_TEST(space.size() == 6u);
  std::ranges::copy(bytes("cdef"), space.begin());
  BOOST_TEST(b.data() == "ab");
  b.commit(3);
  BOOST_TEST(b.data() == "abcde");
  b.consume(1);
  b.commit(1);
  BOOST_TEST(b.data() == "bcdef");
  BOOST_TEST(b.space().size() == 2u);
}

// The buffer reuses its consumed front before it grows.
BOOST_AUTO_TEST_CASE(a_short_queue_stays_small) {
  byte_buffer b(64);
  b.append("ab");
  for (int i = 0; i < 10'000; ++i) {
    b.append("ab");
    b.consume(2);
  }
  BOOST_TEST(b.data() == "ab");
  BOOST_TEST(b.capacity() == 64u);
}

BOOST_AUTO_TEST_CASE(clear_keeps_the_storage) {
  byte_buffer b;
  b.append("something");
  const std::size_t before = b.capacity();
  b.clear();
  BOOST_TEST(b.empty());
  BOOST_TEST(b.capacity() == before);
}

BOOST_AUTO_TEST_CASE(moving_takes_everything) {
  byte_buffer a;
  a.append("content");
  a.consume(3);
  byte_buffer& emptied = a;
  byte_buffer b(std::move(a));
  BOOST_TEST(b.data() == "tent");
  BOOST_TEST(emptied.empty());
  BOOST_TEST(emptied.capacity() == 0u);
  emptied.append("new");
  b = std::move(emptied);
  BOOST_TEST(b.data() == "new");
  BOOST_TEST(emptied.capacity() == 0u);
}

BOOST_AUTO_TEST_CASE(swapping_exchanges_everything) {
  byte_buffer a(32), b;
  a.append("left");
  b.append("right");
  a.swap(b);
  BOOST_TEST(a.data() == "right");
  BOOST_TEST(b.data() == "left");
  BOOST_TEST(b.capacity() == 32u);
}

// Compares with a string after each operation.
BOOST_AUTO_TEST_CASE(random_operations_agree_with_a_string) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    byte_buffer b(seed % 2 == 0 ? 0 : seed);
    std::string expected;
    char next = 0;
    for (int step = 0; step < 500; ++step) {
      if (random() % 2 == 0) {
        std::string piece(random() % 200, '\0');
        for (char& c : piece) c = ++next;
        b.append(piece);
        expected += piece;
      } else {
        const std::size_t count = random() % (expected.size() + 1);
        b.consume(count);
        expected.erase(0, count);
      }
      BOOST_REQUIRE((b.data() == expected));
      BOOST_REQUIRE(b.size() == expected.size());
      BOOST_REQUIRE(b.empty() == expected.empty());
      BOOST_REQUIRE(b.capacity() >= b.size());
    }
  }
}

}  // namespace
}  // namespace quintet
