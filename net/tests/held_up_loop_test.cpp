// SPDX-License-Identifier: BSL-1.0
// held_up_loop_test: a loop that one connection keeps from looking at the others, whose peers act in time all the same,
// or do not. The clock is held by hand.
#include "each_engine.hpp"
#include "sockets.hpp"
#include "timed_lines.hpp"

#include <boost/test/data/test_case.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

/// Lines; for "work" the loop does nothing else for 40 seconds, while others do what the test says.
struct hard_work {
  journal* log;
  manual_clock** time;
  std::function<void()>* meanwhile;
  std::size_t operator()(connection& c, bytes in) const {
    if (in == "work\n") {
      (*meanwhile)();
      (*time)->advance(40s);
    }
    return lines{log}(c, in);
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

const std::vector<error_code> the_busy_one{errc::end_of_stream};
constexpr std::size_t peer_count = 12;
constexpr int seeds = 20;

/// Many peers of a loop that looks at few of them at a time.
struct busy_fixture {
  busy_fixture(shape s, const connection_limits& l, int seed)
      : w(static_cast<std::uint64_t>(seed), s, hard_work{&log, &time, &meanwhile}, l) {
    time = &w.sim.time();
  }
  void connect(bytes begin) {
    for (std::size_t i = 0; i < peer_count; ++i) peers.push_back(w.connect());
    for (const int peer : peers) w.send(peer, begin);
  }
  void work() {
    const int busy = w.connect();
    w.sim.network().most_ready = 3;
    BOOST_TEST(w.converse(busy, "work\n") == "work\n");
    w.sim.network().close(busy);
    w.sim.run_until_quiet();
  }
  journal log;
  manual_clock* time = nullptr;
  std::function<void()> meanwhile;
  std::vector<int> peers;
  world<hard_work> w;
};

void check_in_time(shape s, int seed, const connection_limits& limits, bytes before, const std::string& in_time) {
  busy_fixture f(s, limits, seed);
  f.connect(before);
  f.meanwhile = [&] {
    for (const int peer : f.peers) f.w.sim.network().send(peer, in_time);
  };
  f.work();
  BOOST_TEST((f.log.closed == the_busy_one));
  for (const int peer : f.peers) BOOST_TEST(f.w.received(peer) == std::string(before) + in_time);
}

void check_takes(shape s, int seed) {
  busy_fixture f(s, {.send_timeout = 10s}, seed);
  f.w.sim.network().takes_all = true;  // or it may not take what there is room for, each time it is asked
  f.connect("big\n");
  std::vector<std::size_t> taken;
  f.meanwhile = [&] {
    for (const int peer : f.peers) taken.push_back(f.w.sim.network().receive(peer).size());
  };
  f.work();
  BOOST_TEST((f.log.closed == the_busy_one));
  for (std::size_t i = 0; i < peer_count; ++i) BOOST_TEST(taken.at(i) + f.w.received(f.peers[i]).size() == 100'000U);
}

void check_does_nothing(shape s, int seed, const connection_limits& limits, bytes begin, errc why) {
  busy_fixture f(s, limits, seed);
  f.connect(begin);
  f.w.sim.advance(1s);
  f.meanwhile = [] {};
  f.work();
  for (const int peer : f.peers) BOOST_TEST(f.w.ended(peer));
  std::erase(f.log.closed, errc::end_of_stream);
  BOOST_TEST((f.log.closed == std::vector<error_code>(peer_count, why)));
}

void check_sends_without_end(int seed) {
  busy_fixture f(shapes[0], {.message_timeout = 10s}, seed);
  f.connect("x");
  f.w.sim.network().most_ready = 3;
  for (int turn = 0; turn < 200; ++turn) {
    f.time->advance(100ms);
    for (const int peer : f.peers)
      if (!f.w.ended(peer)) f.w.sim.network().send(peer, "xxxx");
    f.w.server->main_loop().poll();
  }
  BOOST_TEST((f.log.closed == std::vector<error_code>(peer_count, errc::message_timeout)));
}

/// More sockets than any engine reports at a time.
void check_sockets(testing::tested_engine kind) {
  constexpr std::size_t many = 400;
  journal log;
  manual_clock time;
  simulation none(1);
  server_options o{.listen = {"127.0.0.1:0"}, .limits = {.message_timeout = 10s}};
  o.make_engine = [kind] { return make_engine(kind); };
  o.time = &time;
  basic_server server(o, simulated_model(none, 0, false), lines{&log});
  server.start();
  event_loop& loop = server.main_loop();
  const auto turn_until = [&](const auto& done) {
    for (int i = 0; i < 100'000 && !done(); ++i) loop.poll();
    BOOST_TEST(done());
  };
  const auto received = [&] { return server.statistics().bytes_received; };

  std::vector<file_descriptor> peers;
  while (peers.size() < many) {
    peers.push_back(connected_to(server.addresses().at(0)));
    BOOST_REQUIRE(::send(peers.back().get(), "x", 1, 0) == 1);
    turn_until([&] { return received() == peers.size(); });
  }
  std::string rest(40'000, 'x');  // fits into any socket's buffers
  rest.back() = '\n';
  for (const auto& peer : peers) BOOST_REQUIRE(::send(peer.get(), rest.data(), rest.size(), 0) > 0);
  time.advance(40s);
  loop.poll();
  turn_until([&] { return received() == many * (1 + rest.size()); });
  BOOST_TEST(log.closed.empty());
  server.stop();
  while (!loop.finished()) loop.poll();
  server.finish();
}

void check_posted(int seed) {
  busy_fixture f(shapes[0], {.message_timeout = 10s}, seed);
  f.connect("x");
  f.w.sim.network().most_ready = 3;
  f.w.server->main_loop().post([&] {
    for (const int peer : f.peers) f.w.sim.network().send(peer, "xxxx\n");
    f.time->advance(40s);
  });
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.log.closed.empty());
  for (const int peer : f.peers) BOOST_TEST(f.w.received(peer) == "xxxxx\n");
}

}  // namespace

BOOST_DATA_TEST_CASE(who_sends_in_time_is_not_cut_off, bdata::make(shapes) * bdata::xrange(seeds), s, seed) {
  check_in_time(s, seed, {.first_byte_timeout = 10s}, "", "x\n");
  check_in_time(s, seed, {.idle_timeout = 10s}, "", "x\n");
}

// The rest arrives in several pieces, between which the loop looks at others.
BOOST_DATA_TEST_CASE(who_completes_a_message_in_time_is_not_cut_off, bdata::make(shapes) * bdata::xrange(seeds), s,
                     seed) {
  check_in_time(s, seed, {.message_timeout = 10s}, "x", std::string(100, 'x') + '\n');
}

BOOST_DATA_TEST_CASE(who_takes_in_time_is_not_cut_off, bdata::make(shapes) * bdata::xrange(seeds), s, seed) {
  check_takes(s, seed);
}

BOOST_DATA_TEST_CASE(who_does_nothing_is_not_spared, bdata::make(shapes) * bdata::xrange(seeds), s, seed) {
  check_does_nothing(s, seed, {.first_byte_timeout = 10s}, "", errc::first_byte_timeout);
  check_does_nothing(s, seed, {.idle_timeout = 10s}, "", errc::idle_timeout);
  check_does_nothing(s, seed, {.message_timeout = 10s}, "x", errc::message_timeout);
  check_does_nothing(s, seed, {.send_timeout = 10s}, "big\n", errc::send_timeout);
}

// A peer reads nothing and completes no message. The loop finds both out of time at once.
BOOST_DATA_TEST_CASE(the_earlier_of_two_deadlines_is_the_reason, bdata::make(shapes) * bdata::xrange(seeds), s, seed) {
  check_does_nothing(s, seed, {.send_timeout = 10s, .message_timeout = 5s}, "big\nx", errc::message_timeout);
  check_does_nothing(s, seed, {.send_timeout = 5s, .message_timeout = 10s}, "big\nx", errc::send_timeout);
}

// There are always bytes that the loop has not received yet, and they never complete a message.
BOOST_DATA_TEST_CASE(who_sends_without_end_is_not_spared, bdata::xrange(seeds), seed) { check_sends_without_end(seed); }

// It is not a handler that takes long, but a function that the server's owner has posted.
BOOST_DATA_TEST_CASE(a_posted_function_may_hold_up_the_loop, bdata::xrange(seeds), seed) { check_posted(seed); }

QUINTET_ENGINE_TEST(each_socket_is_looked_at_again) { check_sockets(kind); }
