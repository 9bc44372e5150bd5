// SPDX-License-Identifier: BSL-1.0
// time_limits_test: time limits for peers that are idle, silent or do not read. The test sets the clock. See also
// message_timeout_test (incomplete messages) and held_up_loop_test (a loop that is held up).
#include "timed_lines.hpp"

#include <boost/test/data/test_case.hpp>

using namespace quintet;
using namespace quintet::testing;
using namespace std::chrono_literals;
namespace bdata = boost::unit_test::data;

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

BOOST_DATA_TEST_CASE(a_peer_that_takes_nothing, bdata::make(shapes), s) {
  fixture<> f(s, {.idle_timeout = 1s, .send_timeout = 5s});
  f.w.send(f.client, "big\n");
  std::size_t taken = 0;
  for (int i = 0; i < 4; ++i) {  // the peer reads slowly: neither idle nor stalled
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

// The kernel finds room for more, and the peer still reads nothing.
BOOST_DATA_TEST_CASE(room_in_the_kernel_is_no_progress_of_the_peer, bdata::make(shapes), s) {
  fixture<> f(s, {.send_timeout = 8s});
  f.w.send(f.client, "big\n");
  for (int i = 0; i < 9 && !f.closed(); ++i) {
    f.w.sim.network().window += 1000;
    f.w.sim.advance(1010ms);
  }
  f.check(errc::send_timeout);
}

// The kernel would take the rest of the output, but does not report so little room.
BOOST_DATA_TEST_CASE(room_for_all_output_is_no_progress_of_the_peer, bdata::make(shapes), s) {
  fixture<> f(s, {.send_timeout = 8s});
  f.w.sim.network().takes_all = true;
  f.w.sim.network().least_room = 4000;
  const std::string line = std::string(999, 'x') + '\n';
  for (int i = 0; i < 17; ++i) f.w.send(f.client, line);
  f.w.sim.run_until_quiet();
  f.w.sim.network().window += 2000;
  f.w.sim.advance(7900ms);
  BOOST_TEST(!f.closed());
  f.w.sim.advance(1100ms);
  f.check(errc::send_timeout);
}

// The peer reads nothing, while the handler or the registry writes more from time to time.
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

// Messages to a subscriber, which the kernel accepts at once.
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
  for (int i = 0; i < 4; ++i) {  // not idle while it reads
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

BOOST_AUTO_TEST_CASE(limits_that_cannot_be) {
  const auto refused = [](connection_limits l, const std::string& name) {
    BOOST_CHECK_EXCEPTION(validate(l), config_error,
                          [&](const config_error& e) { return std::string(e.what()).find(name) != std::string::npos; });
  };
  refused({.max_input = 0}, "max_input");
  refused({.max_output = 0}, "max_output");
  refused({.high_watermark = 10, .low_watermark = 11}, "low_watermark");
  refused({.max_output = 10, .high_watermark = 11, .low_watermark = 1}, "high_watermark");
  refused({.idle_timeout = -1s}, "idle_timeout is -1 s");
  refused({.min_receive_rate = 5}, "min_receive_rate");
  validate(connection_limits{});
}
