// SPDX-License-Identifier: BSL-1.0
// time_limits_test: peers that are slow, idle or silent, and handlers that may take their time. The clock is held by
// hand.
#include "world.hpp"

#include <quintet/net/framed.hpp>

#include <boost/test/data/test_case.hpp>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

struct journal {
  std::vector<error_code> closed;
};

/// Lines; each is answered by itself.
struct lines {
  journal* log;
  std::size_t operator()(connection& c, bytes in) const {
    const std::size_t end = in.rfind('\n');
    if (end == bytes::npos) return 0;
    if (in.starts_with("forever")) c.set_limits({});
    if (in.starts_with("big"))
      c.write(std::string(100'000, 'b'));
    else
      c.write(in.substr(0, end + 1));
    return end + 1;
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

struct lines_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const {
    std::string rest;
    while (const auto in = co_await s.read()) {
      rest += *in;
      const std::size_t end = rest.rfind('\n');
      if (end == std::string::npos) continue;
      s.write(rest.substr(0, end + 1));
      rest.erase(0, end + 1);
    }
  }
};

template <class Handler = lines>
struct fixture {
  fixture(shape s, const connection_limits& l, std::uint64_t seed = 1)
      : w(seed, s, Handler{&log}, l), client(w.connect()) {}
  bool closed() { return w.statistics().closed > 0; }
  std::uint64_t open() { return w.statistics().opened - w.statistics().closed; }
  void check(errc why) {
    BOOST_TEST(closed());
    if constexpr (std::is_same_v<Handler, lines>) BOOST_TEST((log.closed == std::vector<error_code>{why}));
  }
  journal log;
  world<Handler> w;
  int client;
};

}  // namespace

BOOST_DATA_TEST_CASE(idle_is_neither_input_nor_output, bdata::make(shapes), s) {
  fixture<> f(s, {.idle_timeout = 10s});
  for (int i = 0; i < 5; ++i) {
    f.w.sim.advance(9s);
    BOOST_TEST(f.w.converse(f.client, "x\n") == "x\n");
  }
  f.w.sim.advance(9900ms);
  BOOST_TEST(!f.closed());
  f.w.sim.advance(200ms);
  f.check(errc::idle_timeout);
}

BOOST_DATA_TEST_CASE(the_first_byte_has_its_own_time, bdata::make(shapes), s) {
  fixture<> f(s, {.first_byte_timeout = 2s, .idle_timeout = 100s});
  const int silent = f.w.connect();
  f.w.sim.advance(1s);
  f.w.send(f.client, "x");
  f.w.sim.advance(900ms);
  BOOST_TEST(!f.w.ended(silent));
  f.w.sim.advance(200ms);
  BOOST_TEST(f.w.ended(silent));
  BOOST_TEST(!f.w.ended(f.client));
  f.w.sim.network().close(silent);
}

namespace {

template <class Handler>
void check_slow_writer(shape s) {
  fixture<Handler> f(s, {.message_timeout = 10s});
  for (int i = 0; i < 9; ++i) {
    f.w.send(f.client, "z");
    f.w.sim.advance(1s);
  }
  BOOST_TEST(!f.closed());
  BOOST_TEST(f.w.converse(f.client, "\n") == "zzzzzzzzz\n");  // in time: the next message has its own ten seconds
  for (int i = 0; i < 9; ++i) {
    f.w.sim.advance(1s);
    f.w.send(f.client, "z");
  }
  BOOST_TEST(!f.closed());
  f.w.sim.advance(1100ms);
  f.w.send(f.client, "z");
  f.w.sim.advance(1s);
  f.check(errc::message_timeout);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_message_has_to_be_completed, bdata::make(shapes), s) {
  check_slow_writer<lines>(s);
  check_slow_writer<lines_coroutine>(s);
}

// Read ahead, it begins while the handler is at work with the message before.
BOOST_DATA_TEST_CASE(a_message_that_stops_behind_another, bdata::make(shapes) * bdata::xrange(20), s, seed) {
  fixture<> f(s, {.message_timeout = 2s}, static_cast<std::uint64_t>(seed));
  f.w.sim.network().send(f.client, "z\n");
  f.w.sim.network().send(f.client, "zz");
  f.w.sim.run_until_quiet();
  BOOST_TEST(!f.closed());
  f.w.sim.advance(2100ms);
  f.check(errc::message_timeout);
}

BOOST_DATA_TEST_CASE(bytes_at_the_minimum_rate_buy_time, bdata::make(shapes), s) {
  fixture<> f(s, {.message_timeout = 2s, .min_receive_rate = 100});
  for (int i = 0; i < 20; ++i) {  // 110 bytes a second: 20 seconds are no problem
    f.w.send(f.client, std::string(110, 'z'));
    f.w.sim.advance(1s);
  }
  BOOST_TEST(!f.closed());
  for (int i = 0; i < 20; ++i) {  // one byte a second: what was ahead is used up
    f.w.send(f.client, "z");
    f.w.sim.advance(1s);
  }
  f.check(errc::message_timeout);
}

BOOST_DATA_TEST_CASE(a_peer_that_takes_nothing, bdata::make(shapes), s) {
  fixture<> f(s, {.idle_timeout = 1s, .send_timeout = 5s});
  f.w.send(f.client, "big\n");
  std::size_t taken = 0;
  for (int i = 0; i < 4; ++i) {  // slowly, but it takes some: neither idle nor stalled
    f.w.sim.advance(4s);
    taken += f.w.sim.network().receive(f.client).size();
    f.w.sim.run_until_quiet();
  }
  BOOST_TEST(!f.closed());
  BOOST_TEST(taken < 100'000U);
  f.w.sim.advance(4900ms);
  BOOST_TEST(!f.closed());
  f.w.sim.advance(200ms);
  f.check(errc::send_timeout);
}

// The peer takes nothing, and more is written every now and then, by the handler or from elsewhere.
BOOST_DATA_TEST_CASE(new_output_is_no_progress_of_a_peer_that_does_not_read, bdata::make(shapes) * bdata::xrange(2), s,
                     from_outside) {
  fixture<> f(s, {.send_timeout = 5s});
  f.w.send(f.client, "big\n");
  const connection_id id = f.w.server->connections().all().at(0);
  for (int i = 0; i < 6 && !f.closed(); ++i) {
    f.w.sim.advance(900ms);
    if (from_outside)
      (void)f.w.server->connections().send(id, std::string(10'000, 'n'));
    else
      f.w.send(f.client, "big\n");
    f.w.sim.run_until_quiet();
  }
  f.check(errc::send_timeout);
}

// News for a subscriber, which the kernel takes at once.
BOOST_DATA_TEST_CASE(output_from_outside_is_activity,
                     bdata::make(shapes) * bdata::make({std::size_t{5}, std::size_t{8192}}), s, size) {
  fixture<> f(s, {.idle_timeout = 2s});
  f.w.sim.network().takes_all = true;
  const connection_id id = f.w.server->connections().all().at(0);
  for (int i = 0; i < 20; ++i) {
    f.w.sim.advance(1500ms);
    BOOST_TEST(!f.w.server->connections().send(id, std::string(size, 'n')));
    BOOST_TEST(f.w.received(f.client).size() == size);
  }
  BOOST_TEST(!f.closed());
  f.w.sim.advance(2100ms);
  f.check(errc::idle_timeout);
}

BOOST_DATA_TEST_CASE(a_peer_that_does_not_read_is_idle, bdata::make(shapes), s) {
  fixture<> f(s, {.idle_timeout = 5s});
  f.w.send(f.client, "big\n");
  for (int i = 0; i < 4; ++i) {  // as long as it reads it is not
    f.w.sim.advance(4s);
    BOOST_TEST(!f.w.sim.network().receive(f.client).empty());
    f.w.sim.run_until_quiet();
  }
  BOOST_TEST(!f.closed());
  f.w.send(f.client, "x");
  f.w.sim.advance(4s);
  f.w.send(f.client, "x");
  f.w.sim.advance(1100ms);
  f.check(errc::idle_timeout);
}

BOOST_DATA_TEST_CASE(closing_does_not_keep_a_peer_that_does_not_read, bdata::make(shapes), s) {
  fixture<> f(s, {.idle_timeout = 5s});
  f.w.send(f.client, "big\n");
  BOOST_TEST(!f.w.server->connections().close(f.w.server->connections().all().at(0)));
  f.w.sim.advance(5100ms);
  f.check(errc::idle_timeout);
}

BOOST_DATA_TEST_CASE(aborted_from_outside_it_ends_at_once, bdata::make(shapes), s) {
  fixture<> f(s, {});
  f.w.send(f.client, "big\n");
  BOOST_TEST(!f.w.server->connections().abort(f.w.server->connections().all().at(0)));
  f.w.sim.run_until_quiet();
  f.check(errc::aborted);
  BOOST_TEST(f.w.sim.network().was_reset(f.client));
}

namespace {

/// Uses each byte at once, as the body of an upload: ten make a message.
struct uploads {
  journal* log;
  std::size_t have = 0;
  void operator()(connection& c, bytes in) {
    const std::size_t before = have / 10;
    have += in.size();
    for (std::size_t i = before; i < have / 10; ++i) c.write("done\n");
    if (have % 10 != 0) c.mark_incomplete(have / 10 != before);
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

struct of_frames {
  journal* log;
  void operator()(connection& c, bytes) const { c.write("done\n"); }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_message_that_is_used_byte_by_byte_has_to_end, bdata::make(shapes), s) {
  journal log;
  world w(1, s, uploads{&log}, {.message_timeout = 5s});
  const int slow = w.connect();
  const int steady = w.connect();
  for (int i = 0; i < 4; ++i) {
    w.send(slow, "z");
    w.send(steady, "0123456789012");  // ends within a message each time, and never within the same
    w.sim.advance(1s);
    w.send(steady, "3456789");
  }
  BOOST_TEST(w.statistics().closed == 0U);
  w.send(slow, "z");
  for (int i = 0; i < 10; ++i) {
    w.send(steady, "01234567890123");
    w.sim.advance(1s);
    w.send(steady, "456789");
  }
  BOOST_TEST((log.closed == std::vector<error_code>{errc::message_timeout}));
  BOOST_TEST(w.ended(slow));
}

BOOST_DATA_TEST_CASE(frames_that_say_that_more_follows_do_not_go_on_for_ever, bdata::make(shapes), s) {
  journal log;
  world w(1, s, framed(chunked(length_prefix<2>(), {.receive = true}), of_frames{&log}), {.message_timeout = 5s});
  const int slow = w.connect();
  for (int i = 0; i < 6 && !w.ended(slow); ++i) {
    w.send(slow, bytes("\0\2\1z", 4));
    w.sim.advance(1s);
  }
  BOOST_TEST((log.closed == std::vector<error_code>{errc::message_timeout}));
}

// Whole messages behind one another, cut anywhere: each begins anew.
BOOST_DATA_TEST_CASE(a_stream_of_messages_in_several_frames_may_go_on, bdata::make(shapes), s) {
  journal log;
  world w(1, s, framed(chunked(length_prefix<2>(), {.receive = true}), of_frames{&log}), {.message_timeout = 5s});
  const int c = w.connect();
  w.send(c, bytes("\0\2\1z", 4));
  for (int i = 0; i < 20; ++i) {
    w.sim.advance(1s);
    w.send(c, bytes("\0\2\0z\0\2\1z", 8));  // the end of one, the beginning of the next
  }
  BOOST_TEST(log.closed.empty());
  BOOST_TEST(w.received(c).size() == 20 * 5U);
  w.sim.advance(5100ms);
  BOOST_TEST((log.closed == std::vector<error_code>{errc::message_timeout}));
}

// The whole second request is there; it is the server that does not look, since the peer reads slowly.
BOOST_DATA_TEST_CASE(a_message_that_the_server_does_not_look_at_takes_no_time, bdata::make(shapes) * bdata::xrange(2),
                     s, together) {
  fixture<> f(s, {.high_watermark = 30'000, .low_watermark = 10'000, .message_timeout = 3s});
  if (together) {
    f.w.send(f.client, "big\nx");
  } else {
    f.w.send(f.client, "big\n");
    f.w.send(f.client, "x");
  }
  std::size_t taken = 0;
  for (int i = 0; i < 5; ++i) {
    f.w.sim.advance(2s);
    taken += f.w.sim.network().receive(f.client).size();
    f.w.sim.run_until_quiet();
  }
  BOOST_TEST(!f.closed());
  BOOST_TEST(taken < 100'000U);
  taken += f.w.received(f.client).size();
  BOOST_TEST(taken == 100'000U);
  BOOST_TEST(f.w.converse(f.client, "\n") == "x\n");
  BOOST_TEST(!f.closed());
  f.w.send(f.client, "y");  // and from now on it looks
  f.w.sim.advance(3100ms);
  f.check(errc::message_timeout);
}

BOOST_DATA_TEST_CASE(a_message_begins_with_a_byte_and_not_with_a_read, bdata::make(shapes), s) {
  fixture<lines_coroutine> f(s, {.message_timeout = 10s});
  f.w.sim.advance(60s);
  BOOST_TEST(!f.closed());
  f.w.send(f.client, "x");
  f.w.sim.advance(9s);
  BOOST_TEST(!f.closed());
  f.w.sim.advance(1100ms);
  f.check(errc::message_timeout);
}

BOOST_AUTO_TEST_CASE(the_longest_time_is_no_limit) {
  constexpr duration most = duration::max();
  fixture<> f(shapes[0],
              {.first_byte_timeout = most, .idle_timeout = most, .send_timeout = most, .message_timeout = most});
  f.w.send(f.client, "big\nx");
  f.w.sim.advance(1h, 1min);
  BOOST_TEST(!f.closed());
}

BOOST_DATA_TEST_CASE(a_connection_has_limits_of_its_own, bdata::make(shapes), s) {
  fixture<> f(s, {.idle_timeout = 10s});
  f.w.send(f.client, "forever\n");
  f.w.sim.advance(1000s);
  BOOST_TEST(!f.closed());
}

BOOST_DATA_TEST_CASE(without_limits_nothing_wakes_a_loop, bdata::make(shapes), s) {
  fixture<> f(s, {});
  f.w.send(f.client, "x");
  f.w.sim.advance(24h, 1h);
  BOOST_TEST(!f.closed());
}

// 1,000 connections that send a byte a second: every one is closed at its deadline, and not before.
BOOST_DATA_TEST_CASE(a_crowd_of_slow_writers, bdata::make(shapes), s) {
  fixture<> f(s, {.message_timeout = 20s, .min_receive_rate = 10});
  std::vector<int> slow;
  for (int i = 0; i < 1000; ++i) slow.push_back(f.w.connect());
  for (int second = 0; second < 22; ++second) {
    for (const int c : slow)
      if (!f.w.ended(c)) f.w.sim.network().send(c, "z");
    f.w.sim.run_until_quiet();
    f.w.sim.advance(1s, 1s);
    if (second < 20) BOOST_TEST(f.open() == 1001U);
  }
  f.w.sim.advance(1s, 1s);  // 20 s and what 22 bytes bring at 10 a second
  BOOST_TEST(f.open() == 1U);
  BOOST_TEST(f.w.converse(f.client, "good\n") == "good\n");
  for (const int c : slow) f.w.sim.network().close(c);
}

BOOST_AUTO_TEST_CASE(limits_that_cannot_be) {
  const auto refused = [](connection_limits l, const std::string& name) {
    BOOST_CHECK_EXCEPTION(validate(l), config_error,
                          [&](const config_error& e) { return std::string(e.what()).find(name) != std::string::npos; });
  };
  refused({.max_input = 0}, "max_input");
  refused({.max_output = 0}, "max_output");
  refused({.high_watermark = 10, .low_watermark = 11}, "low_watermark");
  refused({.max_output = 10, .high_watermark = 11, .low_watermark = 1}, "high_watermark");
  refused({.idle_timeout = -1s}, "negative");
  refused({.min_receive_rate = 5}, "min_receive_rate");
  validate(connection_limits{});
}
