// SPDX-License-Identifier: BSL-1.0
// waiting_test: sleeps and events of coroutines, in a loop whose clock is moved by hand.
// ctest: LIBS quintet_sequences
#include "world.hpp"

#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

/// Runs what the test says for each line.
struct script {
  std::function<awaitable<>(stream&, std::string)>* body;
  awaitable<> operator()(stream& s) const { return run(s, *body); }
  static awaitable<> run(stream& s, std::function<awaitable<>(stream&, std::string)>& body) {
    while (const auto line = co_await s.read_until("\n"))
      co_await body(s, std::string(line->substr(0, line->size() - 1)));
  }
};

struct stage {
  explicit stage(shape s, std::function<awaitable<>(stream&, std::string)> b)
      : body(std::move(b)), w(1, s, script{&body}) {}
  std::function<awaitable<>(stream&, std::string)> body;
  world<script> w;
};

awaitable<> sleep_and_tell(stream& s, std::string milliseconds) {
  const error_code why = co_await sleep_for(std::chrono::milliseconds(std::stoi(milliseconds)));
  s.write(milliseconds + (why ? " " + why.message() : " slept") + "\n");
}

}  // namespace

BOOST_DATA_TEST_CASE(sleeps_end_in_the_order_of_their_times, bdata::make(shapes), s) {
  stage on(s, &sleep_and_tell);
  const int late = on.w.connect(), early = on.w.connect(), at_once = on.w.connect();
  on.w.send(late, "2000\n");
  on.w.send(early, "1000\n");
  on.w.send(at_once, "-5\n");
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(at_once) == "-5 slept\n");
  BOOST_TEST(on.w.received(early).empty());
  on.w.sim.advance(1000ms);
  BOOST_TEST(on.w.received(early) == "1000 slept\n");
  BOOST_TEST(on.w.received(late).empty());
  on.w.sim.advance(1000ms);
  BOOST_TEST(on.w.received(late) == "2000 slept\n");
}

BOOST_DATA_TEST_CASE(a_time_of_the_clock_can_be_awaited, bdata::make(shapes), s) {
  stage on(s, [](stream& c, std::string) -> awaitable<> {
    const time_point when = c.loop().now() + 5s;
    (void)co_await sleep_for(2s);
    (void)co_await sleep_until(when);
    (void)co_await sleep_until(when - 1h);  // has passed
    c.write(c.loop().now() == when ? "on time" : "at another time");
  });
  const int peer = on.w.connect();
  on.w.send(peer, "go\n");
  on.w.sim.run_until_quiet();
  on.w.sim.advance(2s);
  BOOST_TEST(on.w.received(peer).empty());
  on.w.sim.advance(3s);
  BOOST_TEST(on.w.received(peer) == "on time");
}

// An event that is set is not waited for. set() wakes all, each once; clear() makes others wait.
BOOST_DATA_TEST_CASE(an_event_wakes_all_that_wait, bdata::make(shapes), s) {
  event on_it;
  stage on(s, [&](stream& c, std::string) -> awaitable<> {
    const error_code why = co_await on_it;
    c.write(why ? why.message() : "set");
  });
  const std::vector<int> peers{on.w.connect(), on.w.connect(), on.w.connect()};
  for (const int p : peers) on.w.send(p, "go\n");
  on.w.sim.run_until_quiet();
  for (const int p : peers) BOOST_TEST(on.w.received(p).empty());
  std::thread([&] { on_it.set(); }).join();
  BOOST_TEST(on_it.is_set());
  on.w.sim.run_until_quiet();
  for (const int p : peers) BOOST_TEST(on.w.received(p) == "set");
  on.w.send(peers[0], "again\n");
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(peers[0]) == "set");
  on_it.clear();
  on.w.send(peers[0], "again\n");
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(peers[0]).empty());
}

// The coroutine owns the event, and destroys it as soon as it runs.
BOOST_DATA_TEST_CASE(a_woken_coroutine_may_destroy_the_event, bdata::make(shapes), s) {
  std::vector<event*> asked;
  stage on(s, [&](stream& c, std::string) -> awaitable<> {
    {
      event own;
      asked.push_back(&own);
      (void)co_await own;
    }
    c.write("woken");
  });
  const int peer = on.w.connect();
  on.w.send(peer, "go\n");
  on.w.sim.run_until_quiet();
  BOOST_REQUIRE(asked.size() == 1U);
  std::thread([&] { asked.front()->set(); }).join();
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(peer) == "woken");
}

// A cancel after set() changes nothing: the event has come.
BOOST_DATA_TEST_CASE(an_event_that_is_set_before_a_cancel_has_come, bdata::make(shapes) * bdata::make({false, true}), s,
                     cancel_first) {
  event on_it;
  connection_id id;
  stage on(s, [&](stream& c, std::string) -> awaitable<> {
    id = c.id();
    const error_code why = co_await on_it;
    c.write(why ? why.message() : "set");
  });
  const int peer = on.w.connect();
  on.w.send(peer, "go\n");
  on.w.sim.run_until_quiet();
  if (cancel_first) {
    BOOST_TEST(!on.w.server->connections().cancel(id));
    on.w.sim.run_until_quiet();
  }
  on_it.set();
  if (!cancel_first) BOOST_TEST(!on.w.server->connections().cancel(id));
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(peer) == (cancel_first ? error_code(errc::request_cancelled).message() : "set"));
}

// Whatever kind of read: it returns at its time, and what has arrived is there for the next one.
BOOST_DATA_TEST_CASE(a_read_returns_at_its_deadline, bdata::make(shapes) * bdata::make({false, true}), s, by_messages) {
  stage on(s, [=](stream& c, std::string) -> awaitable<> {
    std::string told;
    {
      const auto limit = c.with_read_deadline(c.loop().now() + 5s);
      for (int late = 0; late < 2;) {  // the second would wait after its time
        if (by_messages) {
          const auto line = co_await c.read_until(";");
          told += line ? std::string(*line) : line.error() == errc::deadline_passed ? "late " : "wrong ";
          late += !line;
        } else {
          const auto in = co_await c.read();
          told += in ? std::string(*in) : limit.has_passed() ? "late " : "wrong ";
          late += !in;
        }
      }
    }
    c.write(told + (c.cancelled() ? "cancelled " : "") + "then " + std::string(*co_await c.read_until(";")));
  });
  const int peer = on.w.connect();
  on.w.send(peer, "go\n");
  on.w.send(peer, "one;");
  if (by_messages) on.w.send(peer, "tw");
  on.w.sim.run_until_quiet();
  on.w.sim.advance(4s);
  BOOST_TEST(on.w.received(peer).empty());
  on.w.sim.advance(1s);
  BOOST_TEST(on.w.received(peer).empty());
  on.w.send(peer, by_messages ? "o;" : "two;");
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(peer) == "one;late late then two;");
}

// The time of one read is not that of the request, and the reverse.
BOOST_DATA_TEST_CASE(deadlines_of_reads_and_of_requests_are_apart, bdata::make(shapes), s) {
  stage on(s, [=](stream& c, std::string) -> awaitable<> {
    {
      const auto of_reads = c.with_read_deadline(c.loop().now() + 1s);
      c.write((co_await sleep_for(2s)) ? "cancelled " : "slept ");
    }
    const auto of_request = c.with_deadline(c.loop().now() + 1s);
    const auto line = co_await c.read_until(";");
    c.write(line ? std::string(*line) : line.error().message());
  });
  const int peer = on.w.connect();
  on.w.send(peer, "go\n");
  on.w.sim.run_until_quiet();
  on.w.sim.advance(2s);
  on.w.sim.advance(2s);
  on.w.send(peer, "read;");
  on.w.sim.run_until_quiet();
  BOOST_TEST(on.w.received(peer) == "slept read;");
}

// A coroutine that waits for room has returned the baton: it hears why the connection has ended all the same, and what
// it awaits then is cancelled.
BOOST_DATA_TEST_CASE(who_waits_for_room_hears_why_the_connection_has_ended,
                     bdata::make(shapes) * bdata::make({false, true}), s, by_reset) {
  std::vector<cancel_reason> heard;
  std::vector<error_code> slept;
  stage on(s, [&](stream& c, std::string) -> awaitable<> {
    connection_limits own = c.limits();
    own.send_timeout = 1s;
    c.set_limits(own);
    do c.write(std::string(100'000, 'x'));
    while (co_await c.until_writable());
    heard.push_back(c.cancelled().why());
    const error_code why = co_await sleep_for(24h);
    slept.push_back(why);
  });
  const int peer = on.w.connect();
  on.w.send(peer, "go\n");
  on.w.sim.run_until_quiet();
  BOOST_TEST(heard.empty());
  by_reset ? on.w.sim.network().reset(peer) : void();
  on.w.sim.advance(2s);
  const cancel_reason reason = by_reset ? cancel_reason::peer_reset : cancel_reason::slow_reader;
  BOOST_TEST((heard == std::vector{reason}));
  BOOST_TEST((slept == std::vector{error_of(reason)}));
}
