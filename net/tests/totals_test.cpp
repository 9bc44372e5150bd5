// SPDX-License-Identifier: BSL-1.0
// totals_test: the limits of waiting input and output over all connections of a server, and which connections close.
#include "world.hpp"

#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/length_prefix.hpp>
#include <quintet/net/connection/urgent_frames.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

std::string line_of(std::size_t size) {
  std::string line(size, 'm');
  line += '\n';
  return line;
}

struct journal {
  std::vector<error_code> closed;
  [[nodiscard]] std::size_t of(errc why) const {
    return static_cast<std::size_t>(std::ranges::count(closed, error_code(why)));
  }
};

/// Answers "big" with 60,000 bytes. Otherwise answers all complete lines with the position of the last line break.
struct lines {
  journal* log;
  std::size_t last_words = 0;  // bytes that on_close writes
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t end = in.rfind('\n');
    if (end == bytes::npos) return 0;
    c.write(in.starts_with("big") ? std::string(60'000, 'b') : std::to_string(end) + "\n");
    return end + 1;
  }
  void on_close(connection& c, error_code why) const {
    if (last_words > 0) c.write(std::string(last_words, 'l'));
    log->closed.push_back(why);
  }
};

constexpr std::size_t total = 300'000, plenty = 1U << 30U;

struct input_world : world<lines> {
  input_world(shape s, journal& log) : world(1, s, lines{&log}, {}, plenty, {}, total) {}
};

}  // namespace

BOOST_DATA_TEST_CASE(unused_input_of_all_connections_is_bounded, bdata::make(shapes), s) {
  journal log;
  input_world w(s, log);
  std::vector<int> greedy;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(w.connect());
    w.send(greedy.back(), std::string(90'000, 'g'));
  }
  BOOST_TEST(log.of(errc::input_overflow) == 7U);  // the limit has room for three
  const int modest = w.connect();
  BOOST_TEST(w.converse(modest, line_of(60'000)) == "60000\n");
  for (const int c : greedy)
    if (!w.ended(c)) BOOST_TEST(w.converse(c, "\n") == "90000\n");
  for (int i = 0; i < 10; ++i)  // consumed input no longer counts
    BOOST_TEST(w.converse(modest, line_of(250'000)) == "250000\n");
  BOOST_TEST(log.closed.size() == 7U);
}

namespace {

/// Returns a message in frames. A byte in each frame tells whether more frames follow.
std::string in_frames(std::size_t size, bool ends) {
  std::string all;
  for (constexpr std::size_t most = 10'000; size > 0;) {
    const std::size_t part = std::min(size, most);
    size -= part;
    const std::size_t length = part + 1;
    all += static_cast<char>(length >> 8U);
    all += static_cast<char>(length & 0xffU);
    all += size > 0 || !ends ? '\1' : '\0';
    all.append(part, 'g');
  }
  return all;
}

struct lengths {
  journal* log;
  void operator()(connection& c, bytes message) const { c.write(std::to_string(message.size())); }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};
struct urgent_lengths : lengths {
  static bool is_urgent(bytes message) { return message == "ping"; }
  static void on_urgent(urgent_reply& to, bytes) { to.write("pong"); }
};
struct lengths_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const {
    chunked wire(length_prefix<2>(), {.receive = true});
    for (;;) {
      const auto message = co_await s.read_message(wire);
      if (!message) break;
      s.write(std::to_string(message->size()));
    }
    log->closed.push_back(s.failure());
  }
};

template <class Handler>
void check_beginnings(shape s, Handler handler, journal& log) {
  world w(1, s, std::move(handler), {}, plenty, {}, total);
  const int modest = w.connect();
  std::vector<int> greedy;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(w.connect());
    w.send(greedy.back(), in_frames(90'000, false));
  }
  BOOST_TEST(log.of(errc::input_overflow) >= 7U);  // room for three, if the codec allocates no memory in advance
  BOOST_TEST(log.of(errc::input_overflow) < 10U);
  BOOST_TEST(w.converse(modest, in_frames(30'000, true)) == "30000");
  for (const int c : greedy) {
    if (w.ended(c)) continue;
    BOOST_TEST(w.converse(c, in_frames(10, true)) == "90010");
    BOOST_TEST(w.converse(c, in_frames(10, true)) == "10");  // a coroutine releases the message at its next read
  }
  for (int i = 0; i < 10; ++i) BOOST_TEST(w.converse(modest, in_frames(120'000, true)) == "120000");
}

}  // namespace

// Input that a codec keeps for an incomplete message counts as waiting input.
BOOST_DATA_TEST_CASE(beginnings_that_a_codec_keeps_are_bounded, bdata::make(shapes), s) {
  journal of_handler, of_urgent, of_coroutine;
  const chunked wire(length_prefix<2>(), {.receive = true});
  check_beginnings(s, framed(wire, lengths{&of_handler}), of_handler);
  check_beginnings(s, framed(wire, urgent_lengths{{&of_urgent}}), of_urgent);
  check_beginnings(s, lengths_coroutine{&of_coroutine}, of_coroutine);
}

namespace {

const std::vector<shape> with_loops{{3, false}, {3, true}};

template <class World>
void move_all(World& w, event_loop* to) {
  for (const connection_id id : w.server->connections().all())
    BOOST_TEST(!w.server->connections().post(id, [to](connection& c) { (void)c.move_to(*to); }));
  w.sim.run_until_quiet();
}

}  // namespace

// Input kept by a codec still counts after a migration, and is released on the new loop.
BOOST_DATA_TEST_CASE(beginnings_that_a_codec_keeps_are_bounded_after_a_move, bdata::make(with_loops), s) {
  journal log;
  world w(1, s, framed(chunked(length_prefix<2>(), {.receive = true}), lengths{&log}), {}, plenty, {}, total);
  std::vector<int> greedy;
  for (std::size_t i = 0; i < 10; ++i) {
    greedy.push_back(w.connect());  // on loop i
    w.send(greedy.back(), in_frames(90'000, false));
    move_all(w, w.server->loops()[(i + 1) % 3]);
  }
  BOOST_TEST(w.statistics().moved_here >= 10U);
  BOOST_TEST(log.of(errc::input_overflow) >= 7U);  // as without a migration
  BOOST_TEST(log.of(errc::input_overflow) < 10U);
  for (const int c : greedy)
    if (!w.ended(c)) BOOST_TEST(w.converse(c, in_frames(10, true)) == "90010");
  const int modest = w.connect();
  for (int i = 0; i < 10; ++i) BOOST_TEST(w.converse(modest, in_frames(120'000, true)) == "120000");
}

namespace {

/// Reads one message, destroys the codec, and then echoes all input.
struct message_and_more {
  journal* log;
  awaitable<> operator()(stream& s) const {
    {
      chunked wire(length_prefix<2>(), {.receive = true});
      const auto message = co_await s.read_message(wire);
      if (message) s.write(std::to_string(message->size()));
    }
    while (const auto in = co_await s.read()) s.write(*in);
    log->closed.push_back(s.failure());
  }
};

/// Keeps all input, and reports its size with count_kept_input().
struct collector {
  journal* log;
  awaitable<> operator()(stream& s) const {
    std::string all;
    while (const auto in = co_await s.read()) {
      all += *in;
      s.count_kept_input(all.size());
    }
    log->closed.push_back(s.failure());
  }
};

/// Writes a long answer while its codec holds the message.
struct long_answers {
  journal* log;
  awaitable<> operator()(stream& s) const {
    chunked wire(length_prefix<2>(), {.receive = true});
    while (const auto message = co_await s.read_message(wire)) {
      s.write(std::string(60'000, 'a'));
      if (!co_await s.until_writable()) break;
    }
    log->closed.push_back(s.failure());
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(what_a_codec_kept_does_not_count_when_it_has_gone, bdata::make(shapes), s) {
  journal log;
  world w(1, s, message_and_more{&log}, {}, plenty, {}, total);
  std::vector<int> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(w.connect());
    BOOST_TEST(w.converse(clients.back(), in_frames(90'000, true)) == "90000");
  }
  BOOST_TEST(log.closed.empty());
  for (const int c : clients) BOOST_TEST(w.converse(c, "more") == "more");
}

// read() releases the input that a codec has kept, but not the input that the coroutine has counted.
BOOST_DATA_TEST_CASE(what_a_coroutine_keeps_itself_is_bounded, bdata::make(shapes), s) {
  journal log;
  world w(1, s, collector{&log}, {}, plenty, {}, total);
  for (int i = 0; i < 10; ++i) w.send(w.connect(), std::string(90'000, 'g'));
  BOOST_TEST(log.of(errc::input_overflow) == 7U);  // the limit has room for three
}

// The codec's memory includes the last frame of the message, until the coroutine reads the next message.
BOOST_DATA_TEST_CASE(a_message_counts_while_it_is_answered, bdata::make(shapes), s) {
  journal log;
  world w(1, s, long_answers{&log}, {.high_watermark = 1000, .low_watermark = 500}, plenty, {}, total);
  std::vector<int> deaf;
  for (int i = 0; i < 10; ++i) {
    deaf.push_back(w.connect());
    w.send(deaf.back(), in_frames(50'000, true));
  }
  BOOST_TEST(log.of(errc::input_overflow) >= 6U);  // each codec has 80,000 bytes of memory
  BOOST_TEST(log.of(errc::input_overflow) < 10U);
  for (const int c : deaf)
    if (!w.ended(c)) BOOST_TEST(w.received(c).size() == 60'000U);
}

namespace {

/// Keeps up to `most` bytes of input, and reports them in steps of 70,000.
struct hoarder {
  journal* log;
  std::size_t most, kept = 0;
  void operator()(connection& c, bytes in) {
    kept = std::min(most, kept + in.size());
    c.count_kept_input(kept / 70'000 * 70'000);
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

struct hoarding : journal, world<hoarder> {
  hoarding(shape s, int seed, std::size_t most, int peers)
      : world(static_cast<std::uint64_t>(seed), s, hoarder{this, most}, {}, plenty, {}, total) {
    for (int i = 0; i < peers; ++i) clients.push_back(connect());
  }
  void send_from_each(std::size_t count) {
    for (const int c : clients) sim.network().send(c, std::string(count, 'g'));
    sim.run_until_quiet();
  }
  void finish() {
    for (const int c : clients) sim.network().shutdown_send(c);
    sim.run_until_quiet();
    BOOST_TEST(closed.size() == clients.size());
    BOOST_TEST(statistics().closed == clients.size());
  }
  std::vector<int> clients;
};

}  // namespace

// The next batch is read ahead. It begins as soon as the handler returns from the batch in which it kept more.
BOOST_DATA_TEST_CASE(what_a_busy_handler_keeps_is_bounded, bdata::make(shapes) * bdata::xrange(20), s, seed) {
  hoarding w(s, seed, 150'000, 6);
  w.send_from_each(150'000);
  BOOST_TEST(w.of(errc::input_overflow) >= 4U);  // the limit has room for two
  w.finish();
}

// Read-ahead input counts when the handler returns, and may then exceed the limit.
BOOST_DATA_TEST_CASE(input_that_was_read_ahead_ends_a_connection_once, bdata::make(shapes) * bdata::xrange(20), s,
                     seed) {
  hoarding w(s, seed, 70'000, 4);
  w.send_from_each(70'000);
  BOOST_TEST(w.closed.empty());
  w.send_from_each(60'000);
  w.finish();
}

// A connection with little waiting output continues when others have used up the limit.
BOOST_DATA_TEST_CASE(a_peer_that_reads_does_not_pay_for_those_that_do_not, bdata::make(shapes), s) {
  journal log;
  world w(1, s, lines{&log}, {.high_watermark = 1000, .low_watermark = 500}, 200'000);
  w.sim.network().window = 1000;
  std::vector<int> deaf;
  for (int i = 0; i < 10; ++i) {
    deaf.push_back(w.connect());
    w.send(deaf.back(), "big\n");
  }
  BOOST_TEST(log.of(errc::output_overflow) == 7U);
  const int modest = w.connect();
  for (int i = 0; i < 10; ++i) {
    std::string requests;
    for (int k = 0; k < 600; ++k) requests += "a\n";
    w.send(modest, requests + "0123456789\n");  // the answers must wait
    BOOST_TEST(!w.received(modest).empty());
  }
  BOOST_TEST(!w.ended(modest));
}

BOOST_DATA_TEST_CASE(last_words_are_given_back, bdata::make(shapes), s) {
  journal log;
  world w(1, s, lines{&log, 50'000}, {.high_watermark = 1000, .low_watermark = 500}, 200'000);
  for (int i = 0; i < 20; ++i) {
    const int c = w.connect();
    w.sim.network().reset(c);
    w.sim.run_until_quiet();
  }
  const int last = w.connect();
  w.send(last, "big\n");
  BOOST_TEST(w.received(last).size() == 60'000U);
  BOOST_TEST(log.of(errc::output_overflow) == 0U);
}
