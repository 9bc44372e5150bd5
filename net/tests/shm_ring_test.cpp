// SPDX-License-Identifier: BSL-1.0
// shm_ring_test: a ring delivers each byte once and in order, and survives a peer that writes anything into it.
#include <quintet/net/engine/shm/byte_ring.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace quintet;
using namespace quintet::shm;

namespace {

constexpr std::size_t size = 4096;

struct ring {
  std::unique_ptr<ring_control> control = std::make_unique<ring_control>();
  std::vector<char> memory = std::vector<char>(size);
  ring_producer producer{*control, memory};
  ring_consumer consumer{*control, memory};
};

std::string text_of(std::size_t length, unsigned first) {
  std::string s(length, '\0');
  for (char& c : s) c = static_cast<char>(first++);
  return s;
}

std::string take(ring_consumer& from, std::size_t most) {
  std::string s(most, '\0');
  s.resize(from.copy_out(s));
  (void)from.release(s.size());
  return s;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bytes_become_visible_when_they_are_committed) {
  ring r;
  BOOST_TEST(r.producer.copy_in(0, "hello") == 5U);
  BOOST_TEST(r.consumer.available() == 0U);
  (void)r.producer.commit(5);
  BOOST_TEST(take(r.consumer, 100) == "hello");
  BOOST_TEST(r.consumer.available() == 0U);
}

BOOST_AUTO_TEST_CASE(all_of_the_memory_is_used_and_nothing_beyond_it) {
  ring r;
  for (unsigned round = 0; round < 10; ++round) {
    const std::string all = text_of(size + 100, round);
    BOOST_TEST(r.producer.copy_in(0, all) == size);
    (void)r.producer.commit(size);
    BOOST_TEST(r.producer.room(1) == 0U);
    BOOST_TEST(r.producer.copy_in(0, "x") == 0U);
    BOOST_TEST(r.producer.reserve(1).empty());
    BOOST_TEST(take(r.consumer, 1000) == all.substr(0, 1000));
    BOOST_TEST(r.producer.copy_in(0, all) == 1000U);
    (void)r.producer.commit(1000);
    BOOST_TEST(take(r.consumer, 2 * size) == all.substr(1000, size - 1000) + all.substr(0, 1000));
  }
}

// Some distances are slow for memcpy, so that these bytes are copied in pieces.
BOOST_AUTO_TEST_CASE(bytes_arrive_whole_whatever_their_distance_within_a_page) {
  ring r;
  std::vector<char> place(3 * size);
  const std::string all = text_of(size, 7);
  std::size_t at = 0;
  for (std::size_t distance = 0; distance < 20; ++distance) {
    const std::size_t count = size - distance * 101;
    const std::size_t offset = static_cast<std::size_t>(&r.memory[at % size] + distance - place.data()) % size;
    BOOST_TEST_REQUIRE(r.producer.copy_in(0, bytes(all).substr(0, count)) == count);
    (void)r.producer.commit(count);
    place.assign(3 * size, '#');
    BOOST_TEST(r.consumer.copy_out(std::span(place).subspan(offset, count)) == count);
    (void)r.consumer.release(count);
    BOOST_TEST((bytes(place.data() + offset, count) == bytes(all).substr(0, count)), distance);
    BOOST_TEST(bytes(place.data(), offset) == std::string(offset, '#'));
    BOOST_TEST(place[offset + count] == '#');
    at += count;
  }
}

BOOST_AUTO_TEST_CASE(several_pieces_are_published_together) {
  ring r;
  std::size_t sent = r.producer.copy_in(0, "one ");
  sent += r.producer.copy_in(sent, "two");
  BOOST_TEST(r.consumer.available() == 0U);
  (void)r.producer.commit(sent);
  BOOST_TEST(take(r.consumer, 100) == "one two");
}

BOOST_AUTO_TEST_CASE(reserved_and_peeked_places_wrap_at_the_end_of_the_memory) {
  ring r;
  (void)r.producer.copy_in(0, text_of(size - 10, 0));
  (void)r.producer.commit(size - 10);
  (void)take(r.consumer, size);
  BOOST_TEST(r.producer.reserve(100).size() == 10U);
  (void)r.producer.copy_in(0, text_of(30, 7));
  (void)r.producer.commit(30);
  BOOST_TEST(r.consumer.peek() == text_of(10, 7));
  (void)r.consumer.release(10);
  BOOST_TEST(r.consumer.peek() == text_of(20, 17));
}

BOOST_AUTO_TEST_CASE(a_wake_up_is_due_only_to_a_side_that_sleeps) {
  ring r;
  (void)r.producer.copy_in(0, "a");
  BOOST_TEST(!r.producer.commit(1));
  BOOST_TEST(!r.consumer.sleep());  // something waits
  (void)take(r.consumer, 1);
  BOOST_TEST(r.consumer.sleep());
  (void)r.producer.copy_in(0, "b");
  BOOST_TEST(r.producer.commit(1));
  (void)r.producer.copy_in(0, "c");
  BOOST_TEST(!r.producer.commit(1));  // one is enough

  BOOST_TEST(!r.producer.wait_for_room());  // there is room
  (void)r.consumer.release(1);
  (void)r.producer.copy_in(0, text_of(size, 0));
  (void)r.producer.commit(size - 1);
  BOOST_TEST(r.producer.wait_for_room());
  BOOST_TEST(r.consumer.release(1));
  BOOST_TEST(!r.consumer.release(1));
}

BOOST_AUTO_TEST_CASE(the_end_is_seen_after_the_last_byte_and_wakes) {
  ring r;
  BOOST_TEST(r.consumer.sleep());
  (void)r.producer.copy_in(0, "z");
  BOOST_TEST(r.producer.commit(1));
  BOOST_TEST(!r.producer.finish(stream_end::finished));  // the consumer is awake
  BOOST_CHECK(r.consumer.producer_end() == stream_end::finished);
  BOOST_TEST(take(r.consumer, 10) == "z");
  BOOST_TEST(!r.consumer.sleep());
  r.control->end.store(static_cast<stream_end>(77));
  BOOST_CHECK(r.consumer.producer_end() == stream_end::reset);
}

BOOST_AUTO_TEST_CASE(an_impossible_position_stops_the_ring) {
  for (const std::uint64_t wrong : {std::uint64_t{size + 1}, ~std::uint64_t{0}, std::uint64_t{1} << 63U}) {
    ring r;
    r.control->produced.store(wrong);
    BOOST_TEST(r.consumer.available() == 0U);
    BOOST_TEST(r.consumer.is_corrupt());
    BOOST_TEST(r.consumer.peek().empty());
    BOOST_TEST(!r.consumer.sleep());
    r.control->consumed.store(wrong);
    (void)r.producer.copy_in(0, text_of(size, 0));
    (void)r.producer.commit(size);
    BOOST_TEST(r.producer.room(1) == 0U);
    BOOST_TEST(r.producer.is_corrupt());
    BOOST_TEST(r.producer.copy_in(0, "x") == 0U);
  }
}

// It is first read by wait_for_room(): a producer that slept would sleep as long as the peer likes.
BOOST_AUTO_TEST_CASE(nobody_waits_for_room_in_a_corrupt_ring) {
  ring r;
  (void)r.producer.copy_in(0, text_of(size, 0));
  (void)r.producer.commit(size);
  BOOST_TEST(r.producer.room(1) == 0U);
  r.control->consumed.store(std::uint64_t{1} << 40U);
  BOOST_TEST(!r.producer.wait_for_room());
  BOOST_TEST(r.producer.is_corrupt());
}

// The memory is exactly as long as the ring: AddressSanitizer sees an access beyond it.
BOOST_AUTO_TEST_CASE(a_peer_that_scribbles_moves_no_access_out_of_the_memory) {
  std::mt19937_64 random(7);
  for (int run = 0; run < 2000; ++run) {
    ring r;
    for (int step = 0; step < 50; ++step) {
      const std::uint64_t near = r.control->produced.load() + random() % (2 * size) - size / 2;
      const std::uint64_t position = random() % 4 ? near : random();
      switch (random() % 6) {
        case 0:
          r.control->produced.store(position);
          break;
        case 1:
          r.control->consumed.store(position);
          break;
        case 2:
          (void)r.producer.commit(r.producer.copy_in(0, text_of(random() % size, 0)));
          break;
        case 3:
          BOOST_REQUIRE(take(r.consumer, random() % size).size() <= size);
          break;
        case 4:
          BOOST_REQUIRE(r.producer.reserve(random() % size).size() <= size);
          break;
        default:
          (void)r.consumer.release(r.consumer.peek().size());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(two_threads_see_each_byte_once_and_in_order) {
  ring r;
  constexpr std::size_t total = 4'000'000;
  std::thread sending([&r] {
    std::mt19937 random(1);
    for (std::size_t sent = 0; sent < total;) {
      const std::string piece =
          text_of(std::min<std::size_t>(random() % 900 + 1, total - sent), static_cast<unsigned>(sent));
      const std::size_t count = r.producer.copy_in(0, piece);
      if (count == 0) std::this_thread::yield();
      (void)r.producer.commit(count);
      sent += count;
    }
    (void)r.producer.finish(stream_end::finished);
  });
  std::size_t received = 0, wrong = 0;
  while (received < total) {
    const bytes next = r.consumer.peek();
    if (next.empty()) std::this_thread::yield();
    for (const char c : next) wrong += c != static_cast<char>(static_cast<unsigned>(received++));
    (void)r.consumer.release(next.size());
  }
  sending.join();
  BOOST_TEST(wrong == 0U);
  BOOST_CHECK(r.consumer.producer_end() == stream_end::finished);
  BOOST_TEST(r.consumer.available() == 0U);
}
