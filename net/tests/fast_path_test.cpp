// SPDX-License-Identifier: BSL-1.0
// fast_path_test: batches that leave the fast path in the middle, and the time limits of those that do not.
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

std::string pattern(char from, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += from + std::to_string(i);
  text.resize(size);
  return text;
}

/// A message is a letter, which says how the batch goes on, and a point.
struct command {
  char letter;
  std::string reply;
};
const std::vector<command> commands{
    {'p', "p"},                          // stays on the fast path
    {'n', ""},                           // writes nothing
    {'f', "f1f2"},                       // flushes between two writes
    {'g', "g"},                          // flushes what is written last
    {'k', pattern('k', 30'000)},         // more than a chunk
    {'b', pattern('b', 100'000)},        // more than the network takes at once
    {'B', pattern('B', 100'000) + "!"},  // the same, flushed, and one byte more
    {'s', pattern('s', 9'000)},          // shared bytes
    {'i', "i"},                          // ends within a message that begins in it
    {'j', "j"},                          // ends within a message
    {'l', "l"},                          // changes its own limits
};

void reply_to(connection& c, const command& to) {
  if (to.letter == 'f') {
    c.write("f1");
    c.flush();
    c.write("f2");
  } else if (to.letter == 'B') {
    c.write(bytes(to.reply).substr(0, to.reply.size() - 1));
    c.flush();
    c.write("!");
  } else if (to.letter == 's') {
    c.write(std::make_shared<const std::string>(to.reply));
  } else {
    c.write(to.reply);
  }
  if (to.letter == 'g') c.flush();
  if (to.letter == 'i' || to.letter == 'j') c.mark_incomplete(to.letter == 'i');
  if (to.letter == 'l') c.set_limits(c.limits());
}

const command& named(char letter) {
  for (const command& each : commands)
    if (each.letter == letter) return each;
  throw std::invalid_argument("no such command");
}

struct callbacks {
  static void operate(connection& c, bytes in) {
    for (const char letter : in)
      if (letter != '.') reply_to(c, named(letter));
  }
  void operator()(connection& c, bytes in) const { operate(c, in); }
};
/// Leaves a letter unused whose point has not arrived.
struct only_whole {
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t whole = in.size() - in.size() % 2;
    callbacks::operate(c, in.substr(0, whole));
    return whole;
  }
};
struct coroutine {
  awaitable<> operator()(stream& s) const { return run(s); }
  static awaitable<> run(stream& s) {
    while (const auto in = co_await s.read()) callbacks::operate(s, *in);
  }
};
/// Awaits something else in each batch: another thread, or room.
struct offloading_coroutine {
  awaitable<> operator()(stream& s) const { return run(s); }
  static awaitable<> run(stream& s) {
    while (const auto in = co_await s.read()) {
      const std::string kept(*in);
      callbacks::operate(s, bytes(kept).substr(0, 1));
      co_await s.offload([] {});
      callbacks::operate(s, bytes(kept).substr(1));
      (void)co_await s.until_writable();
    }
  }
};

const std::vector<connection_limits> limits{
    {}, {.first_byte_timeout = 1h, .idle_timeout = 1h, .send_timeout = 1h, .message_timeout = 1h}};

// A chunk that one connection keeps, and another writes to, would mix their replies.
template <class Handler>
void check_replies(shape s, const connection_limits& limit, std::uint64_t seed) {
  world<Handler> w(seed, s, Handler{}, limit);
  const std::array clients{w.connect(), w.connect(), w.connect()};
  std::mt19937_64 random(seed);
  for (int step = 0; step < 300; ++step) {
    std::array<std::string, clients.size()> expected;
    for (std::size_t i = 0; i < clients.size(); ++i)
      for (std::uint64_t n = random() % 3; n > 0; --n) {
        const command& next = commands[random() % commands.size()];
        w.sim.network().send(clients[i], std::string{next.letter, '.'});
        expected[i] += next.reply;
        if (random() % 2 == 0) w.sim.run_until_quiet();
      }
    for (std::size_t i = 0; i < clients.size(); ++i) BOOST_TEST((w.received(clients[i]) == expected[i]));
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(replies_stay_apart_however_batches_end, bdata::make(shapes) * bdata::make({0U, 1U}), s, timed) {
  check_replies<callbacks>(s, limits[timed], 1);
  check_replies<only_whole>(s, limits[timed], 2);
  check_replies<coroutine>(s, limits[timed], 3);
  check_replies<offloading_coroutine>(s, limits[timed], 4);
}

namespace {

template <class Handler>
void check_idle(shape s) {
  world<Handler> w(1, s, Handler{}, {.idle_timeout = 10s});
  const int client = w.connect();
  for (int i = 0; i < 5; ++i) {  // the second and later ones are alike
    BOOST_TEST(w.converse(client, "p") == "p");
    w.sim.advance(9s);
    BOOST_TEST(!w.ended(client));
  }
  w.sim.advance(999ms);
  BOOST_TEST(!w.ended(client));
  w.sim.advance(2ms);
  BOOST_TEST(w.ended(client));
}

template <class Handler>
void check_incomplete(shape s, const std::string& begun) {
  world<Handler> w(1, s, Handler{}, {.idle_timeout = 1h, .message_timeout = 10s});
  const int client = w.connect();
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(w.converse(client, "p") == "p");
    w.sim.advance(20s);
  }
  BOOST_TEST(w.converse(client, begun) == begun);
  w.sim.advance(9s);
  BOOST_TEST(w.converse(client, "p") == "p");  // ends it
  w.sim.advance(20s);
  BOOST_TEST(w.converse(client, begun) == begun);
  w.sim.advance(9999ms);
  BOOST_TEST(!w.ended(client));
  w.sim.advance(2ms);
  BOOST_TEST(w.ended(client));
}

}  // namespace

BOOST_DATA_TEST_CASE(a_deadline_at_rest_counts_from_the_last_batch, bdata::make(shapes), s) {
  check_idle<callbacks>(s);
  check_idle<coroutine>(s);
}

BOOST_DATA_TEST_CASE(a_message_that_is_begun_ends_the_rest, bdata::make(shapes), s) {
  for (const char* const begun : {"i", "j"}) {
    check_incomplete<callbacks>(s, begun);
    check_incomplete<coroutine>(s, begun);
  }
}

// ---- Exceptions -----------------------------------------------------------------------------------------------------

namespace {

struct failing {
  void operator()(connection& c, bytes in) const {
    c.write("lost");
    if (in == "t") throw std::runtime_error("as told");
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_handler_that_throws_leaves_the_chunk_to_others, bdata::make(shapes), s) {
  world<failing> w(1, s, failing{});
  const int first = w.connect(), second = w.connect();
  BOOST_TEST(w.converse(first, "g") == "lost");
  BOOST_TEST(w.converse(first, "t").empty());
  BOOST_TEST(w.ended(first));
  BOOST_TEST(w.converse(second, "g") == "lost");
}
