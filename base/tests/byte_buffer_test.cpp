// SPDX-License-Identifier: BSL-1.0
// byte_buffer_test: what is appended at the back comes out at the front, whatever moves in between.
#include <quintet/base/byte_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <random>
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
  BOOST_TEST(b.data() == std::string(100, 'x') + "y");
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

// The consumed front is used before the storage grows.
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
  byte_buffer b(std::move(a));
  BOOST_TEST(b.data() == "tent");
  BOOST_TEST(a.empty());  // NOLINT(bugprone-use-after-move): that it is empty is promised
  BOOST_TEST(a.capacity() == 0u);
  a.append("new");
  b = std::move(a);
  BOOST_TEST(b.data() == "new");
  BOOST_TEST(a.capacity() == 0u);  // NOLINT(bugprone-use-after-move)
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

// Against a string that does the same.
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
