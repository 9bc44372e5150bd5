// SPDX-License-Identifier: BSL-1.0
// writable_test: long replies that are written piece by piece, as fast as the peer reads.
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <algorithm>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t reply = 1000 * kib;

struct journal {
  std::size_t most_waiting = 0;
  int turns = 0;  // in which the handler could write on
  std::vector<error_code> closed;
};

connection_limits watermarks() {
  return {.max_output = 150 * kib, .high_watermark = 100 * kib, .low_watermark = 50 * kib};
}

/// Answers each byte by 1,000 KiB of it, which is far above max_output.
struct streaming {
  journal* log;
  std::string asked = {};
  std::size_t left = 0;

  void operator()(connection& c, bytes in) {
    asked += in;
    write_on(c);
  }
  void on_writable(connection& c) {
    ++log->turns;
    write_on(c);
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
  void write_on(connection& c) {
    while (!asked.empty() && c.writable()) {
      if (left == 0) left = reply;
      const std::size_t piece = std::min(left, 10 * kib);
      BOOST_TEST(c.write(std::string(piece, asked.front())));
      if ((left -= piece) == 0) asked.erase(0, 1);
    }
  }
};

/// Has on_writable too.
struct short_replies : streaming {
  void operator()(connection& c, bytes in) const {
    for (int i = 0; i < 5 && c.writable(); ++i) c.write(in);
  }
};

awaitable<> stream_replies(stream& s, journal* log) {
  while (const auto in = co_await s.read()) {
    const std::string asked(*in);
    for (const char c : asked) {
      for (std::size_t left = reply; left > 0; left -= 10 * kib) {
        if (!co_await s.until_writable()) {
          ++log->turns;
          co_return;
        }
        BOOST_TEST(*in == asked);  // what read() has shown is still there
        BOOST_TEST(s.write(std::string(10 * kib, c)));
      }
    }
  }
}

struct streaming_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const { return stream_replies(s, log); }
};

template <class Handler>
void replies_come_whole_and_in_order(shape s) {
  journal log;
  world<Handler> w(1, s, Handler{&log}, watermarks());
  const int client = w.connect();
  w.send(client, "ab");
  w.send(client, "c");
  const std::string all = w.received(client);
  BOOST_TEST(all.size() == 3 * reply);
  BOOST_TEST((all == std::string(reply, 'a') + std::string(reply, 'b') + std::string(reply, 'c')));
  w.sim.network().shutdown_send(client);
  w.sim.run_until_quiet();
  BOOST_TEST(w.ended(client));
}

}  // namespace

BOOST_DATA_TEST_CASE(callbacks_write_on_in_on_writable, bdata::make(shapes), s) {
  replies_come_whole_and_in_order<streaming>(s);
}
BOOST_DATA_TEST_CASE(coroutines_write_on_after_until_writable, bdata::make(shapes), s) {
  replies_come_whole_and_in_order<streaming_coroutine>(s);
}

BOOST_DATA_TEST_CASE(a_peer_that_does_not_read_holds_the_handler, bdata::make(shapes), s) {
  journal log;
  world<streaming> w(1, s, streaming{&log}, watermarks());
  const int silent = w.connect(), good = w.connect();
  w.send(silent, "a");
  w.send(silent, "b");
  const int turns = log.turns;
  w.sim.run_until_quiet();
  BOOST_TEST(log.turns == turns);
  BOOST_TEST(w.converse(good, "g").size() == reply);
  BOOST_TEST(log.closed.empty());
  w.sim.network().close(silent);
  w.sim.run_until_quiet();
  BOOST_TEST(log.closed.size() == 1U);
}

// Nothing is ever full: on_writable must not be called, nor is input held back.
BOOST_DATA_TEST_CASE(it_comes_only_after_writable_was_false, bdata::make(shapes), s) {
  journal log;
  world<short_replies> w(1, s, short_replies{{&log}}, {});
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "x") == "xxxxx");
  BOOST_TEST(log.turns == 0);
}

// Far from any watermark, and a handler still does not write a long reply in one go: others have their turn.
BOOST_DATA_TEST_CASE(a_long_reply_is_written_in_shares, bdata::make(shapes), s) {
  journal log;
  world<streaming> w(1, s, streaming{&log}, {.max_output = 20 * reply, .high_watermark = 10 * reply});
  const int client = w.connect();
  BOOST_TEST(w.converse(client, "x").size() == reply);
  BOOST_TEST(log.turns >= 10);
}

/// Counts who may not write although nothing of his own waits.
struct counted : streaming {
  int* not_writable;
  void operator()(connection& c, bytes in) {
    if (!c.writable()) ++*not_writable;
    streaming::operator()(c, in);
  }
};

BOOST_DATA_TEST_CASE(many_who_ask_at_once_take_turns, bdata::make(shapes), s) {
  constexpr int askers = 64;
  journal log;
  int not_writable = 0;
  connection_limits limits = watermarks();
  limits.high_watermark = 16 * kib;
  limits.low_watermark = 16 * kib;
  world<counted> w(1, s, counted{{&log}, &not_writable}, limits);
  std::vector<int> all;
  for (int i = 0; i < askers; ++i) all.push_back(w.connect());
  w.send(all[0], "a");
  BOOST_TEST(w.received(all[0]).size() == reply);
  BOOST_TEST(not_writable == 0);
  for (const int client : all) w.sim.network().send(client, "a");
  w.sim.run_until_quiet();
  for (const int client : all) BOOST_TEST(w.received(client).size() == reply);
  BOOST_TEST(not_writable > 0);
  BOOST_TEST(not_writable < askers);
}

/// Cannot go on later, and so is only told whether its own output waits.
struct asking_only {
  int* refused;
  void operator()(connection& c, bytes in) const {
    if (!c.writable()) ++*refused;
    c.write(std::string(20 * kib, in.front()));
  }
};

BOOST_DATA_TEST_CASE(who_cannot_go_on_later_is_not_put_off, bdata::make(shapes), s) {
  constexpr int askers = 64;
  int refused = 0;
  world<asking_only> w(1, s, asking_only{&refused}, watermarks());
  std::vector<int> all;
  for (int i = 0; i < askers; ++i) all.push_back(w.connect());
  for (const int client : all) w.sim.network().send(client, "a");
  w.sim.run_until_quiet();
  for (const int client : all) BOOST_TEST(w.received(client).size() == 20 * kib);
  BOOST_TEST(refused == 0);
}

BOOST_DATA_TEST_CASE(a_coroutine_that_waits_for_room_is_told_of_the_end, bdata::make(shapes), s) {
  journal log;
  world<streaming_coroutine> w(1, s, streaming_coroutine{&log}, watermarks());
  const int client = w.connect();
  w.send(client, "a");
  BOOST_TEST(log.turns == 0);
  w.sim.network().reset(client);
  w.sim.run_until_quiet();
  BOOST_TEST(log.turns == 1);
}

BOOST_DATA_TEST_CASE(a_server_that_stops_does_not_wait_for_room, bdata::make(shapes), s) {
  journal log;
  world<streaming_coroutine> w(1, s, streaming_coroutine{&log}, watermarks());
  w.send(w.connect(), "a");
  w.stop();
  BOOST_TEST(log.turns == 1);
}

namespace {

/// Writes 200 KiB at once for each byte.
struct greedy {
  void operator()(connection& c, bytes in) const {
    for (std::size_t i = 0; i < in.size() * 20; ++i) c.write(std::string(10 * kib, 'g'));
  }
};

}  // namespace

// The peer would take a part of a reply for all of it, and the kernel would keep what it has for minutes.
BOOST_DATA_TEST_CASE(a_peer_that_is_given_up_is_reset, bdata::make(shapes), s) {
  world<greedy> w(1, s, greedy{}, watermarks());
  const int client = w.connect();
  w.send(client, "x");
  BOOST_TEST(w.sim.network().was_reset(client));
}
