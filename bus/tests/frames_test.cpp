// SPDX-License-Identifier: BSL-1.0
// frames_test: frames and queues by themselves, and peers that send wrong ones.
#include <boost/test/unit_test.hpp>

#include "raw_bus_peer.hpp"

#include <quintet/base/framing/message_buffer.hpp>
#include <quintet/bus/messages/send_queue.hpp>

#include <array>
#include <random>

namespace quintet::test {
namespace {

using bus::frame_type;

// ---- Encoding -------------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_sealed_frame_is_the_codecs) {
  bus::codec wire(length_prefix<4>(1000));
  for (const std::size_t size : {0U, 1U, 100U, 900U}) {
    const std::string sealed = message_frame(42, std::string(size, 'x'));
    const frame found = wire.parse(sealed);
    BOOST_TEST((found.is == frame::state::complete));
    BOOST_TEST(found.size == sealed.size());
    BOOST_TEST(bus::sealed_size(sealed.data()) == sealed.size());
    message_buffer wrapped(found.message);
    BOOST_TEST(!wire.wrap(wrapped));
    BOOST_TEST(wrapped.data() == sealed);
    const auto h = bus::decode_header(found.message);
    BOOST_TEST(h.has_value());
    BOOST_TEST(h->sequence == 42U);
  }
}

BOOST_AUTO_TEST_CASE(decoders_take_bytes_of_any_length_and_content) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string any(random() % 80, '\0');
    for (char& c : any) c = static_cast<char>(random());
    bytes body = any;
    BOOST_TEST(bus::decode_header(any).has_value() == (any.size() >= 8));
    BOOST_TEST(bus::take_routing(body).has_value() == (any.size() >= bus::routing_size));
    BOOST_TEST(bus::decode_number(any).has_value() == (any.size() == 8));
    if (const auto h = bus::decode_hello(any)) BOOST_TEST(any.size() == bus::hello_size);
  }
  bus::hello all{1, 2, 3, 4, 5, 6, bus_route::shm, true};
  bytes encoded = bus::encode(all).data();
  const bus::control_frame kept = bus::encode(all);
  encoded = kept.data().substr(bus::prefix_size + bus::header_size);
  const auto back = bus::decode_hello(encoded);
  BOOST_TEST_REQUIRE(back.has_value());
  BOOST_TEST((back->id == 1 && back->target == 2 && back->epoch == 3 && back->known_epoch == 4 && back->received == 5));
  BOOST_TEST((back->max_message == 6 && back->route == bus_route::shm && back->is_pinned));
}

// Several readers, each with its own cursor, while acknowledgements free chunks under them.
BOOST_AUTO_TEST_CASE(each_cursor_reads_the_queue_without_a_gap) {
  bus::chunk_store store;
  bus::send_queue q(store, 512 * 1024);
  std::mt19937 random(2);
  bus::send_queue::cursor at = q.find(1);
  std::uint64_t read = 0;
  shared_bytes held;  // as a connection holds a chunk that it has not sent yet
  std::string as_it_was;
  int chunks = 0;
  for (int round = 0; round < 5'000; ++round) {
    if (held) BOOST_TEST_REQUIRE((*held == as_it_was));
    for (std::size_t i = random() % 40; i > 0; --i) {
      const std::string payload = numbered(q.last() + 1),
                        f = message_frame(static_cast<std::uint32_t>(q.last() + 1), payload);
      char* const place = q.reserve(f.size());
      if (!place) break;
      f.copy(place, f.size());
      q.commit(f.size());
    }
    if (random() % 16 == 0) {
      const std::uint64_t from = q.acknowledged() + 1 + random() % (q.last() - q.acknowledged() + 1);
      at = q.find(from);
      read = from - 1;
    }
    if (shared_bytes chunk = q.peek_chunk(at)) {
      BOOST_TEST_REQUIRE((bytes(*chunk) == q.peek(at)));
      held = std::move(chunk);
      as_it_was = *held;
      ++chunks;
    }
    const bytes next = q.peek(at).substr(0, random() % 4000);
    std::size_t whole = 0;
    while (whole + 4 < next.size() && whole + bus::sealed_size(next.data() + whole) <= next.size()) {
      const std::size_t size = bus::sealed_size(next.data() + whole);
      const std::uint64_t n = number_of(next.substr(whole + 16));
      BOOST_TEST_REQUIRE(n <= read + 1);
      read = std::max(read, n);
      whole += size;
    }
    at.offset += whole;
    if (read > q.acknowledged()) q.acknowledge(q.acknowledged() + random() % (read - q.acknowledged() + 1));
    BOOST_TEST(q.size() <= 512U * 1024);
  }
  BOOST_TEST(q.acknowledged() > 10'000U);
  BOOST_TEST(chunks > 10);
  q.drop_all();
  BOOST_TEST(q.size() == 0U);
}

// A chunk has the size of its last frames when it is used again.
BOOST_AUTO_TEST_CASE(messages_of_all_sizes_follow_each_other_in_chunks_that_are_used_again) {
  bus::chunk_store store;
  bus::send_queue q(store, 512 * 1024);
  for (const std::size_t size : {32'768U, 10U, 65'000U, 65'536U, 3'000U, 40'000U, 1U, 65'536U, 100'000U, 20'000U}) {
    bus::send_queue::cursor at = q.find(q.last() + 1);
    std::string expected;
    for (int i = 0; i < 4 || expected.size() < 70'000; ++i) {
      const std::string f =
          message_frame(static_cast<std::uint32_t>(i), std::string(size, static_cast<char>('a' + i % 26)));
      char* const place = q.reserve(f.size());
      BOOST_TEST_REQUIRE(place);
      f.copy(place, f.size());
      q.commit(f.size());
      expected += f;
    }
    std::string read;
    for (bytes next; !(next = q.peek(at)).empty(); at.offset += next.size()) read += next;
    BOOST_TEST((read == expected), size);
    q.drop_all();
  }
}

// ---- Wrong peers ----------------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_flipped_bit_is_counted_and_closes_the_connection) {
  raw_world w;
  w.connect();
  std::string bad = message_frame(2, "broken");
  bad[bad.size() - 2] = static_cast<char>(bad[bad.size() - 2] ^ 4);
  w.send(greeting + message_frame(1, "whole") + bad + message_frame(3, "never seen"));
  BOOST_TEST(w.until_closed());
  BOOST_TEST((w.node.messages == std::vector<noting_node::received>{{9, "whole"}}));
  BOOST_TEST(w.node.node.statistics().checksum_errors == 1U);
  BOOST_TEST(w.node.node.statistics().malformed == 0U);
}

BOOST_AUTO_TEST_CASE(below_the_threshold_lost_messages_are_asked_for_again) {
  raw_world w({.max_checksum_errors = 2});
  w.connect();
  std::string bad = message_frame(2, "two");
  bad.back() = 'x';
  w.send(greeting + message_frame(1, "one") + bad + message_frame(3, "three") + message_frame(4, "four"));
  BOOST_TEST(w.until([&] { return w.received.find(control(frame_type::resend, 2)) != std::string::npos; }));
  w.send(message_frame(2, "two") + message_frame(3, "three") + message_frame(4, "four") + message_frame(2, "two"));
  BOOST_TEST(w.until([&] { return w.node.count == 4; }));
  BOOST_TEST(w.node.messages[1].payload == "two");
  BOOST_TEST(w.node.messages[3].payload == "four");
  BOOST_TEST(w.until([&] { return w.node.node.statistics().duplicates == 1; }));
  BOOST_TEST(!w.is_closed);
  w.send(bad);
  BOOST_TEST(w.until_closed());
  BOOST_TEST(w.node.node.statistics().checksum_errors == 2U);
}

// No other frame may follow the lost one, and the one that comes again may be lost as well.
BOOST_AUTO_TEST_CASE(each_lost_frame_is_asked_for_again_at_once) {
  raw_world w({.max_checksum_errors = 4});
  w.connect();
  std::string bad = message_frame(1, "one");
  bad.back() = 'x';
  const std::string ask = control(frame_type::resend, 1);
  const auto asked = [&] { return w.count(ask); };
  w.send(greeting + bad);
  BOOST_TEST(w.until([&] { return asked() == 1; }));
  w.send(bad);
  BOOST_TEST(w.until([&] { return asked() == 2; }));
  w.send(message_frame(1, "one"));
  BOOST_TEST(w.until([&] { return w.node.count == 1; }));
  BOOST_TEST(!w.is_closed);
}

BOOST_AUTO_TEST_CASE(who_is_asked_for_a_message_acknowledges_again) {
  raw_world w({.max_checksum_errors = 4});
  w.connect();
  w.send(greeting + message_frame(1, "one"));
  BOOST_TEST(w.until([&] { return w.node.count == 1; }));
  BOOST_TEST(!w.node.node.send(9, "mine"));
  BOOST_TEST(w.until([&] { return w.received.find("mine") != std::string::npos; }));
  w.received.clear();
  w.send(control(frame_type::resend, 1));
  BOOST_TEST(w.until([&] { return w.received.find("mine") != std::string::npos; }));
  BOOST_TEST(w.received.find(control(frame_type::acknowledge, 1)) != std::string::npos);
}

// The peer has connected anew and given that up: it goes on with the first connection.
BOOST_AUTO_TEST_CASE(a_connection_that_its_peer_gives_up_again_leaves_the_one_before) {
  raw_world w;
  w.connect();
  w.send(greeting);
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 1; }));
  BOOST_TEST(!w.node.node.send(9, "one"));
  BOOST_TEST(w.until([&] { return w.received.find("one") != std::string::npos; }));
  file_descriptor first = std::move(w.fd);
  w.connect();
  w.send(greeting);
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 2; }));
  {
    const file_descriptor second(std::move(w.fd));
  }
  w.fd = std::move(first);
  w.received.clear();
  BOOST_TEST(w.until([&] { return w.node.routes.size() == 3; }));
  BOOST_TEST(!w.node.node.send(9, "two"));
  BOOST_TEST(w.until([&] { return w.received.find("two") != std::string::npos; }));
  BOOST_TEST(w.received.find("one") == std::string::npos);  // not again
  w.send(control(frame_type::acknowledge, 2));
  BOOST_TEST(!w.node.node.send(9, "three"));
  BOOST_TEST(w.until([&] { return w.received.find("three") != std::string::npos; }));
  BOOST_TEST(!w.is_closed);
}

BOOST_AUTO_TEST_CASE(frames_without_a_meaning_close_their_connection_only) {
  raw_world w;
  noting_node other({.id = 5});
  other.node.connect(1, w.node.node.addresses());
  BOOST_TEST(drive_until({&w.node, &other}, [&] { return other.node.route_of(1).has_value(); }));
  const std::string wrong[] = {
      "GET / HTTP/1.1\r\n\r\n",
      message_frame(1, "before the hello"),
      control(frame_type::acknowledge, 1),
      hello_frame(9, 2),                                             // for another node
      hello_frame(1, 1),                                             // the node's own id
      hello_frame(9, 1, 0),                                          // no epoch
      hello_frame(9, 1) + hello_frame(9, 1),                         // twice
      hello_frame(9, 1) + message_frame(1, "before the start"),      //
      greeting + control(frame_type::start, 1),                      // twice
      hello_frame(9, 1) + control(frame_type::start, 0),             // numbers begin at 1
      greeting + message_frame(2, "after a gap"),                    //
      greeting + control(frame_type::acknowledge, 1),                // of a message that was not sent
      greeting + control(frame_type::resend, 2),                     // the same
      greeting + control(static_cast<frame_type>(77), 1),            // no such type
      greeting + message_frame(1, std::string(64 * 1024 + 1, 'x')),  // too large a payload
  };
  std::uint64_t malformed = 0;
  for (const std::string& bad : wrong) {
    w.connect();
    w.send(bad);
    BOOST_TEST_CONTEXT(malformed) BOOST_TEST(w.until_closed());
    BOOST_TEST(w.node.node.statistics().malformed == ++malformed);
  }
  BOOST_TEST(w.node.count == 0U);
  BOOST_TEST(!other.node.send(1, "still here"));
  BOOST_TEST(drive_until({&w.node, &other}, [&] { return w.node.count == 1; }));
}

// Valid frames with random headers and bodies, and random bytes, after a greeting or without it.
BOOST_AUTO_TEST_CASE(random_bytes_and_random_frames_do_no_harm) {
  raw_world w;
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    w.connect();
    std::string all = random() % 2 == 0 ? greeting : "";
    for (unsigned i = 0; i < 20; ++i) {
      std::string body(random() % 60, '\0');
      for (char& c : body) c = static_cast<char>(random() % 8);
      std::string f(bus::prefix_size + bus::header_size, '\0');
      f += body;
      bus::seal(f.data(),
                {static_cast<frame_type>(random() % 8), static_cast<std::uint8_t>(random() % 4), 0,
                 static_cast<std::uint32_t>(random() % 3)},
                body.size());
      all += random() % 4 == 0 ? body : f;
    }
    w.send(all);
    ::shutdown(w.fd.get(), SHUT_WR);
    BOOST_TEST_REQUIRE(w.until_closed());
  }
  w.connect();
  w.send(hello_frame(9, 1, 8) + control(frame_type::start, 1) + message_frame(1, "after all that"));
  BOOST_TEST(w.until([&] { return !w.node.messages.empty() && w.node.messages.back().payload == "after all that"; }));
}

BOOST_AUTO_TEST_CASE(a_peer_that_never_greets_is_closed) {
  raw_world w({.connecting = {.timeout = std::chrono::milliseconds(20)}});
  w.connect();
  BOOST_TEST(w.until_closed());
  w.connect();
  w.send(hello_frame(9, 1).substr(0, 10));
  BOOST_TEST(w.until_closed());
}

}  // namespace
}  // namespace quintet::test
