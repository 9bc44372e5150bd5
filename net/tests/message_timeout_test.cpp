// SPDX-License-Identifier: BSL-1.0
// message_timeout_test: messages that are begun and not ended, of handlers and coroutines of every kind. The clock is
// held by hand.
#include <quintet/base/build/sanitizers.hpp>

#include "timed_lines.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

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

namespace {

template <class Handler>
void check_writes_from_outside(shape s) {
  fixture<Handler> f(s, {.message_timeout = 10s});
  f.w.sim.network().takes_all = true;
  f.w.send(f.client, "z");
  const connection_id id = f.w.server->connections().all().at(0);
  for (int i = 0; i < 6 && !f.closed(); ++i) {
    f.w.sim.advance(1900ms);
    (void)f.w.server->connections().post(id, [](connection& c) { c.write("news\n"); });
    f.w.sim.run_until_quiet();
  }
  f.check(errc::message_timeout);
}

}  // namespace

// What others write to a connection does not complete the message that its peer has begun.
BOOST_DATA_TEST_CASE(writes_from_outside_buy_no_time, bdata::make(shapes), s) {
  check_writes_from_outside<lines>(s);
  check_writes_from_outside<lines_coroutine>(s);
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

namespace {

struct frames_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const {
    chunked wire(length_prefix<2>(), {.receive = true});
    while (co_await s.read_message(wire)) s.write("done\n");
    log->closed.push_back(s.failure());
  }
};

}  // namespace

// The codec has used all input of each batch; the coroutine has to say that a message has begun.
BOOST_DATA_TEST_CASE(a_coroutines_message_in_several_frames_has_to_end, bdata::make(shapes) * bdata::xrange(20), s,
                     seed) {
  journal log;
  world w(static_cast<std::uint64_t>(seed), s, frames_coroutine{&log}, {.message_timeout = 5s});
  const int c = w.connect();
  w.send(c, bytes("\0\2\1z", 4));
  for (int i = 0; i < 3; ++i) {
    w.sim.advance(3s, 1s);
    w.send(c, bytes("\0\2\0z\0\2\1z", 8));  // the end of one, the beginning of the next
  }
  BOOST_TEST(log.closed.empty());
  BOOST_TEST(w.received(c).size() == 3 * 5U);
  w.sim.advance(4900ms, 1s);
  BOOST_TEST(log.closed.empty());
  w.sim.advance(200ms);
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

// Many connections that send a byte a second: every one is closed at its deadline, and not before.
BOOST_DATA_TEST_CASE(a_crowd_of_slow_writers, bdata::make(shapes), s) {
  fixture<> f(s, {.message_timeout = 20s, .min_receive_rate = 10});
  std::vector<int> slow;
  constexpr int many = sanitized ? 200 : 1000;
  for (int i = 0; i < many; ++i) slow.push_back(f.w.connect());
  for (int second = 0; second < 22; ++second) {
    for (const int c : slow)
      if (!f.w.ended(c)) f.w.sim.network().send(c, "z");
    f.w.sim.run_until_quiet();
    f.w.sim.advance(1s, 1s);
    if (second < 20) BOOST_TEST(f.open() == many + 1U);
  }
  f.w.sim.advance(1s, 1s);  // 20 s and what 22 bytes bring at 10 a second
  BOOST_TEST(f.open() == 1U);
  BOOST_TEST(f.w.converse(f.client, "good\n") == "good\n");
  for (const int c : slow) f.w.sim.network().close(c);
}

// Much that came at once does not pay for silence, only for more of it that comes slowly.
BOOST_DATA_TEST_CASE(bytes_buy_no_silence, bdata::make(shapes), s) {
  const connection_limits limits{.message_timeout = 2s, .min_receive_rate = 100};
  fixture<> silent(s, limits), slow(s, limits);
  silent.w.send(silent.client, std::string(10'000, 'z'));  // 100 seconds
  silent.w.sim.advance(1900ms);
  BOOST_TEST(!silent.closed());
  silent.w.sim.advance(200ms);
  silent.check(errc::message_timeout);
  slow.w.send(slow.client, std::string(10'000, 'z'));
  for (int i = 0; i < 60; ++i) {
    slow.w.sim.advance(1500ms);
    slow.w.send(slow.client, "z");
  }
  BOOST_TEST(!slow.closed());
  for (int i = 0; i < 10 && !slow.closed(); ++i) {
    slow.w.sim.advance(1500ms);
    slow.w.send(slow.client, "z");
  }
  slow.check(errc::message_timeout);
}

namespace {

/// Takes its time to find that there is no whole line yet.
struct ponderous_lines {
  journal* log;
  manual_clock** time;
  std::size_t operator()(connection& c, bytes in) const {
    (*time)->advance(4s);
    return lines{log}(c, in);
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

}  // namespace

// In the models with a pool, where the loop goes on: a peer that sends in time is not charged for the handler's.
BOOST_AUTO_TEST_CASE(the_time_of_the_handler_is_not_the_peers) {
  for (const shape s : shapes) {
    if (!s.pooled) continue;
    journal log;
    manual_clock* time = nullptr;
    world w(1, s, ponderous_lines{&log, &time}, {.message_timeout = 10s});
    time = &w.sim.time();
    const int c = w.connect();
    for (int i = 0; i < 9; ++i) {
      w.send(c, "z");
      w.sim.advance(1s);
    }
    BOOST_TEST(log.closed.empty());
    BOOST_TEST(w.converse(c, "\n") == "zzzzzzzzz\n");
    w.send(c, "z");
    w.sim.advance(10100ms);
    BOOST_TEST((log.closed == std::vector<error_code>{errc::message_timeout}));
  }
}
