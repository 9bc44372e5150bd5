// SPDX-License-Identifier: BSL-1.0
// heartbeat_monitor_test: silent connections are pinged and closed, others are not, and late scans are counted. The
// test sets the clock.
#include "world.hpp"

#include <quintet/net/server/heartbeat_monitor.hpp>
#include <quintet/net/stream.hpp>

#include <boost/test/data/test_case.hpp>

#include <optional>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

namespace {

struct journal {
  std::vector<error_code> closed;
};

struct echo {
  journal* log;
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

struct echo_coroutine {
  journal* log;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read()) s.write(*in);
  }
};

/// A monitor on its own loop, beside the server's loops.
template <class Handler = echo>
struct fixture {
  fixture(shape s, const heartbeat_options& o) : w(1, s, Handler{&log}), own(w.sim.make_loop()) {
    monitor.emplace(own, w.server->connections(), o);
    monitor->start();
  }
  ~fixture() { w.stop(); }
  std::uint64_t open() { return w.statistics().opened - w.statistics().closed; }
  void check_evicted(std::size_t count) {
    BOOST_TEST(w.statistics().evicted == count);
    if constexpr (std::is_same_v<Handler, echo>)
      BOOST_TEST((log.closed == std::vector<error_code>(count, errc::heartbeat_timeout)));
  }
  journal log;
  world<Handler> w;
  event_loop& own;
  std::optional<heartbeat_monitor> monitor;
};

heartbeat_options evicting() { return {.interval = 10ms, .evict_after = 50ms}; }
heartbeat_options pinging() { return {.interval = 10ms, .ping_after = 30ms, .ping = "?"}; }

template <class Handler>
void check_that_silence_ends(shape s) {
  fixture<Handler> f(s, evicting());
  const int silent = f.w.connect(), talks = f.w.connect();
  for (int i = 0; i < 5; ++i) {
    f.w.sim.advance(10ms, 1ms);
    BOOST_TEST(f.open() == 2u);  // never too early
    BOOST_TEST(f.w.converse(talks, "x") == "x");
  }
  f.w.sim.advance(20ms, 1ms);
  BOOST_TEST(f.w.ended(silent));
  BOOST_TEST(f.w.converse(talks, "x") == "x");
  f.check_evicted(1);
}

}  // namespace

BOOST_DATA_TEST_CASE(who_is_silent_is_closed_and_who_talks_is_not, bdata::make(shapes), s) {
  check_that_silence_ends<echo>(s);
}

BOOST_DATA_TEST_CASE(so_it_is_with_coroutines, bdata::make(shapes), s) { check_that_silence_ends<echo_coroutine>(s); }

BOOST_DATA_TEST_CASE(one_byte_in_time_is_enough, bdata::make(shapes), s) {
  fixture<> f(s, evicting());
  const int client = f.w.connect();
  for (int i = 0; i < 20; ++i) {
    f.w.sim.advance(45ms, 1ms);
    BOOST_TEST(f.w.converse(client, "x") == "x");
  }
  f.check_evicted(0);
}

BOOST_DATA_TEST_CASE(silence_is_pinged_again_and_again, bdata::make(shapes), s) {
  fixture<> f(s, pinging());
  const int first = f.w.connect(), second = f.w.connect();
  f.w.sim.advance(25ms, 1ms);
  BOOST_TEST(f.w.received(first).empty());
  f.w.sim.advance(100ms, 1ms);
  BOOST_TEST(f.w.received(first) == "???");  // at 40, 70 and 100 ms: every three intervals after the first scan
  BOOST_TEST(f.w.received(second) == "???");
  BOOST_TEST(f.monitor->statistics().pings == 6u);
  BOOST_TEST(f.open() == 2u);
}

BOOST_DATA_TEST_CASE(the_longest_times_are_never, bdata::make(shapes), s) {
  // 2^32 + 4 intervals: a 32-bit count that overflows would be 4.
  constexpr duration long_time{(std::int64_t{1} << 32U) + 4};
  fixture<> looks(s, {.interval = 1ns, .ping_after = long_time, .ping = "?", .evict_after = duration::max()});
  const int silent = looks.w.connect();
  for (int i = 0; i < 100; ++i) looks.w.sim.advance(10ms);
  BOOST_TEST(looks.w.received(silent).empty());
  looks.check_evicted(0);
  BOOST_TEST(looks.monitor->statistics().scans > 0u);
  fixture<> never(s, {.interval = duration::max()});
  never.w.sim.advance(1h, 1min);
  BOOST_TEST(never.monitor->statistics().scans == 0u);
}

BOOST_DATA_TEST_CASE(who_answers_pings_stays, bdata::make(shapes), s) {
  fixture<> f(s, {.interval = 10ms, .ping_after = 20ms, .ping = "?", .evict_after = 60ms});
  const int answers = f.w.connect(), silent = f.w.connect();
  for (int i = 0; i < 50; ++i) {
    f.w.sim.advance(10ms, 1ms);
    if (f.w.received(answers) == "?") f.w.send(answers, "!");
  }
  BOOST_TEST(f.w.received(silent) == "??");
  BOOST_TEST(f.w.ended(silent));
  BOOST_TEST(!f.w.ended(answers));
  f.check_evicted(1);
}

// One loop has one shard. It holds more connections than one step of a scan visits.
BOOST_AUTO_TEST_CASE(a_look_at_many_goes_on_in_steps) {
  fixture<> f({0, false}, pinging());
  std::vector<int> clients;
  for (int i = 0; i < 2000; ++i) clients.push_back(f.w.connect());
  f.w.sim.advance(35ms);
  BOOST_TEST(f.monitor->statistics().pings == 0u);
  f.w.sim.advance(10ms);
  BOOST_TEST(f.monitor->statistics().pings == 2000u);
  BOOST_TEST(f.monitor->statistics().scans == 4u);
}

// The connection's bytes have arrived, but the loop has not received them yet.
BOOST_AUTO_TEST_CASE(a_loop_that_is_held_up_loses_nobody) {
  fixture<> f({0, false}, evicting());
  const int client = f.w.connect();
  f.w.sim.advance(40ms);
  f.w.sim.forget(f.w.server->main_loop());
  f.w.sim.network().send(client, "x");
  f.w.sim.advance(300ms);
  f.w.sim.drive(f.w.server->main_loop());
  BOOST_TEST(f.w.received(client) == "x");
  f.check_evicted(0);
}

// The peer waits for the answer and sends nothing.
BOOST_AUTO_TEST_CASE(a_handler_at_work_is_not_silence) {
  journal log;
  simulation sim(1);
  std::vector<work_item*> at_work;
  struct pool : simulated_model {
    pool(simulation& sim, std::vector<work_item*>& kept) : simulated_model(sim, 0, true), all(&kept) {}
    void run(work_item& item) noexcept {
      item.hand_off();
      all->push_back(&item);
    }
    std::vector<work_item*>* all;
  };
  server_options o{.listen = {"127.0.0.1:7"}};
  o.make_engine = [&] { return sim.network().make_engine(); };
  o.time = &sim.time();
  basic_server server(o, pool(sim, at_work), echo{&log});
  server.start();
  sim.drive(server.main_loop());
  event_loop& own = sim.make_loop();
  heartbeat_monitor monitor(own, server.connections(), evicting());
  monitor.start();
  const int client = sim.network().connect(7);
  sim.network().send(client, "x");
  sim.run_until_quiet();
  BOOST_REQUIRE(at_work.size() == 1u);
  sim.advance(500ms);
  BOOST_TEST(server.statistics().evicted == 0u);
  (*at_work.front())();
  sim.run_until_quiet();
  BOOST_TEST(sim.network().receive(client) == "x");
  at_work.clear();
  sim.advance(120ms);
  BOOST_TEST(server.statistics().evicted == 1u);
  for (work_item* item : at_work) (*item)();  // on_close
  sim.run_until_quiet();
  BOOST_TEST((log.closed == std::vector<error_code>{errc::heartbeat_timeout}));
  server.stop();
  sim.run_until_quiet();
  server.finish();
  sim.network().close(client);
}

BOOST_AUTO_TEST_CASE(late_scans_are_measured_and_counted) {
  fixture<> f({0, false}, {.interval = 10ms});
  f.w.sim.advance(100ms, 10ms);
  auto now = f.monitor->statistics();
  BOOST_TEST(now.scans == 10u);
  BOOST_TEST(now.late == 0u);
  BOOST_TEST(now.lateness.max == 0u);
  f.w.sim.advance(15ms, 15ms);  // scheduled at 110, now 115: within the bound
  f.w.sim.advance(12ms, 12ms);  // scheduled at 120, now 127
  f.w.sim.advance(36ms, 36ms);  // scheduled at 130, now 163: the missed scans are skipped
  now = f.monitor->statistics();
  BOOST_TEST(now.lateness.total() == 13u);
  BOOST_TEST(now.late == 2u);
  BOOST_TEST(now.lateness.max == 33'000'000u);
  f.w.sim.advance(7ms, 7ms);  // the scan at 170 is on time
  BOOST_TEST(f.monitor->statistics().lateness.total() == 14u);
  BOOST_TEST(f.monitor->statistics().lateness.max == 33'000'000u);
  BOOST_TEST(f.monitor->statistics().late == 2u);
}

BOOST_AUTO_TEST_CASE(options_that_cannot_be) {
  validate(heartbeat_options{});
  validate(pinging());
  validate(evicting());
  const auto refuses = [](const heartbeat_options& o) { BOOST_CHECK_THROW(validate(o), config_error); };
  refuses({.interval = -1ms});
  refuses({.evict_after = 1s});
  refuses({.interval = 10ms, .evict_after = 9ms});
  refuses({.ping_after = 1s, .ping = "?"});
  refuses({.interval = 10ms, .ping_after = 1s});
  refuses({.interval = 10ms, .ping = "?"});
  refuses({.interval = 10ms, .ping_after = 1s, .ping = "?", .evict_after = 1s});
}
