// SPDX-License-Identifier: BSL-1.0
// back_pressure_test: peers that do not read: watermarks, their four policies, caps, and one connection that feeds
// another.
#include "world.hpp"

#include <boost/test/data/test_case.hpp>

#include <stdexcept>

using namespace quintet;
using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t kib = 1024;

struct journal {
  std::vector<connection_id> open;
  std::vector<error_code> closed;
  int batches = 0;
  int refused = 0;
};

/// Answers each byte by 10 KiB, and Y by twenty times as much.
struct generous {
  journal* log;
  void on_open(connection& c) const { log->open.push_back(c.id()); }
  void operator()(connection& c, bytes in) const {
    ++log->batches;
    const std::size_t times = in == "Y" ? 20 : in.size();
    for (std::size_t i = 0; i < times; ++i)
      if (!c.write(std::string(10 * kib, 'g'))) ++log->refused;
  }
  void on_close(connection&, error_code why) const { log->closed.push_back(why); }
};

connection_limits low(overflow_policy full) {
  return {.max_output = 1000 * kib, .high_watermark = 100 * kib, .low_watermark = 50 * kib, .overflow = full};
}

struct fixture {
  explicit fixture(shape s, const connection_limits& l, std::size_t total = 1U << 30U)
      : w(1, s, generous{&log}, l, total), client(w.connect()) {}
  void ask(int times) {
    for (int i = 0; i < times; ++i) w.send(client, "x");
  }
  connection_id id() const { return log.open.front(); }
  journal log;
  world<generous> w;
  int client;
};

}  // namespace

BOOST_DATA_TEST_CASE(pause_looks_at_no_more_input_until_the_peer_reads, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::pause));
  f.ask(100);
  const int paused_after = f.log.batches;
  BOOST_TEST(paused_after < 20);
  BOOST_TEST(paused_after > 10);
  BOOST_TEST(f.w.received(f.client).size() == 1000 * kib);  // nothing is lost
  BOOST_TEST(f.log.refused == 0);
  BOOST_TEST(f.w.statistics().dropped == 0U);
  BOOST_TEST(f.w.converse(f.client, "x").size() == 10 * kib);
}

BOOST_DATA_TEST_CASE(reading_goes_on_at_the_low_watermark_not_before, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::pause));
  f.w.sim.network().window = 1;  // the peer takes as much as the test reads, and no more
  f.ask(30);
  const int before = f.log.batches;
  std::size_t taken = 0;
  while (f.log.batches == before) {
    taken += f.w.sim.network().receive(f.client).size();
    f.w.sim.run_until_quiet();
  }
  const std::size_t waited = static_cast<std::size_t>(before) * 10 * kib;
  BOOST_TEST(waited - taken - 1 <= 50 * kib);  // one byte is on its way
  BOOST_TEST(waited - taken - 1 >= 50 * kib - 10);
}

BOOST_DATA_TEST_CASE(drop_drops_whole_messages_and_counts_them, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::drop));
  f.ask(100);
  BOOST_TEST(f.log.batches == 100);
  BOOST_TEST(f.log.refused == 0);
  const std::uint64_t dropped = f.w.statistics().dropped;
  BOOST_TEST(dropped > 80U);
  BOOST_TEST(f.w.received(f.client).size() == (100 - dropped) * 10 * kib);
  BOOST_TEST(f.w.converse(f.client, "x").size() == 10 * kib);  // and goes on when there is room again
  f.ask(50);
  const auto more = f.w.statistics().dropped;
  for (int i = 0; i < 5; ++i) BOOST_TEST(!f.w.server->connections().send(f.id(), "news"));
  f.w.sim.run_until_quiet();
  BOOST_TEST(f.w.statistics().dropped == more + 5);
}

BOOST_DATA_TEST_CASE(error_tells_who_writes_and_who_sends, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::error));
  f.ask(100);
  BOOST_TEST(f.log.refused > 80);
  BOOST_TEST(f.w.server->connections().send(f.id(), "x") == error_code(errc::output_full));
  BOOST_TEST(f.w.server->connections().broadcast(f.log.open, std::make_shared<const std::string>("x")) == 0U);
  const auto whole = static_cast<std::size_t>(100 - f.log.refused);
  BOOST_TEST(f.w.received(f.client).size() == whole * 10 * kib);
  BOOST_TEST(!f.w.server->connections().send(f.id(), "x"));
  BOOST_TEST(f.w.received(f.client) == "x");
}

BOOST_DATA_TEST_CASE(close_closes, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::close));
  f.ask(100);
  BOOST_TEST((f.log.closed == std::vector<error_code>{errc::output_full}));
}

// While output waits already; the rest of the limits stays as it was.
BOOST_DATA_TEST_CASE(a_policy_that_is_set_later_counts_at_once, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::pause));
  f.ask(20);
  BOOST_TEST(f.log.closed.empty());
  (void)f.w.server->connections().post(f.id(), [](connection& c) {
    connection_limits l = c.limits();
    l.overflow = overflow_policy::close;
    c.set_limits(l);
  });
  f.w.sim.run_until_quiet();
  BOOST_TEST((f.log.closed == std::vector<error_code>{errc::output_full}));
}

// An orderly end would let the peer take a part of a reply for all of it.
BOOST_DATA_TEST_CASE(a_reply_that_is_cut_ends_in_a_reset, bdata::make(shapes) * bdata::xrange(3), s, way) {
  connection_limits l = low(overflow_policy::pause);
  l.idle_timeout = std::chrono::seconds(10);
  fixture f(s, l);
  f.ask(5);  // not enough for the watermark, too much for the window
  BOOST_TEST(!f.w.ended(f.client));
  if (way == 0) f.w.stop();
  if (way == 1) f.w.sim.advance(std::chrono::seconds(11));
  if (way == 2) (void)f.w.server->connections().post(f.id(), [](connection&) { throw std::runtime_error("broken"); });
  if (f.w.server) f.w.sim.run_until_quiet();
  BOOST_TEST((f.log.closed == std::vector<error_code>{way == 0   ? errc::stopped
                                                      : way == 1 ? errc::idle_timeout
                                                                 : errc::handler_threw}));
  BOOST_TEST(f.w.sim.network().was_reset(f.client));
}

namespace {

/// Answers 'a' by a little, 'b' by more than is sent at once, and breaks then; 'c' breaks with its answer unsent.
struct breaking {
  void operator()(connection& c, bytes in) const {
    if (in.starts_with("b"))
      for (int i = 0; i < 30; ++i) c.write(std::string(10 * kib, 'b'));
    else
      c.write("a");
    if (!in.starts_with("a")) throw std::runtime_error("broken");
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_batch_that_breaks_in_the_middle_of_what_it_sends_ends_in_a_reset, bdata::make(shapes), s) {
  world<breaking> w(1, s, breaking());
  w.sim.network().window = 1000 * kib;
  const int client = w.connect();
  w.sim.network().send(client, "b");
  w.sim.run_until_quiet();
  BOOST_TEST(w.ended(client));
  const bool has_some = !w.sim.network().receive(client).empty();
  BOOST_TEST(has_some == !s.pooled);  // a pool's thread sends nothing before the end of the batch
  BOOST_TEST(w.sim.network().was_reset(client) == has_some);
}

// The earlier reply must arrive.
BOOST_DATA_TEST_CASE(a_batch_that_breaks_with_nothing_sent_of_it_ends_in_order, bdata::make(shapes), s) {
  world<breaking> w(1, s, breaking());
  const int client = w.connect();
  w.send(client, "a");
  w.send(client, "c");
  BOOST_TEST(w.sim.network().receive(client) == "a");
  BOOST_TEST(w.ended(client));
  BOOST_TEST(!w.sim.network().was_reset(client));
}

BOOST_DATA_TEST_CASE(a_reply_that_is_whole_ends_in_order, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::pause));
  f.ask(1);
  f.w.stop();
  BOOST_TEST(!f.w.sim.network().was_reset(f.client));
}

BOOST_DATA_TEST_CASE(the_hard_cap_counts_before_it_queues, bdata::make(shapes), s) {
  auto l = low(overflow_policy::pause);
  l.max_output = 120 * kib;
  fixture f(s, l);
  f.w.send(f.client, "Y");  // one batch may write above the watermark, but not 200 KiB
  BOOST_TEST(f.log.refused > 0);
  BOOST_TEST((f.log.closed == std::vector<error_code>{errc::output_overflow}));
}

BOOST_DATA_TEST_CASE(sends_from_outside_are_capped_too, bdata::make(shapes), s) {
  auto l = low(overflow_policy::pause);
  l.max_output = 120 * kib;
  fixture f(s, l);
  for (int i = 0; i < 20; ++i) {
    (void)f.w.server->connections().send(f.id(), std::string(10 * kib, 'x'));
    f.w.sim.run_until_quiet();
  }
  BOOST_TEST((f.log.closed == std::vector<error_code>{errc::output_overflow}));
}

BOOST_DATA_TEST_CASE(the_server_as_a_whole_has_a_cap, bdata::make(shapes), s) {
  fixture f(s, low(overflow_policy::pause), 150 * kib);
  const int other = f.w.connect();
  f.ask(11);  // nearly 100 KiB wait for one client
  for (int i = 0; i < 10; ++i) f.w.send(other, "x");
  BOOST_TEST((f.log.closed == std::vector<error_code>{errc::output_overflow}));
  BOOST_TEST(f.w.received(f.client).size() == 110 * kib);  // the one that was within the cap is served
  const int third = f.w.connect();                         // what the closed one had waiting is no longer counted
  BOOST_TEST(f.w.converse(third, "x").size() == 10 * kib);
}

namespace {

/// What one says goes to the other: the second to connect is fed by the first.
struct relay {
  std::vector<connection_id>* ids;
  int* batches;
  void on_open(connection& c) const {
    ids->push_back(c.id());
    if (ids->size() == 2) c.throttle_source(ids->front());
  }
  void operator()(connection& c, bytes in) const {
    ++*batches;
    if (c.id() == ids->front()) (void)c.registry().send((*ids)[1], in);
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_connection_is_not_read_while_the_one_it_feeds_is_full, bdata::make(shapes), s) {
  std::vector<connection_id> ids;
  int batches = 0;
  world<relay> w(1, s, relay{&ids, &batches}, low(overflow_policy::pause));
  const int source = w.connect(), sink = w.connect();
  std::size_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    w.send(source, std::string(10 * kib, static_cast<char>('a' + i % 26)));
    sent += 10 * kib;
  }
  BOOST_TEST(w.sim.network().receive(sink).size() <= w.sim.network().window);
  const int held = batches;
  w.sim.run_until_quiet();
  BOOST_TEST(batches == held);
  std::size_t arrived = w.sim.network().window;
  arrived += w.received(sink).size();
  BOOST_TEST(arrived == sent);
  w.sim.network().close(sink);  // gone: the source is read from again
  w.sim.run_until_quiet();
  const int before = batches;
  w.send(source, "more");
  BOOST_TEST(batches > before);
}

namespace {

/// The first connection feeds all others, and pauses while one of them is full. Each of the others gets the policy that
/// `full` holds when it opens.
struct fan {
  std::vector<connection_id>* ids;
  int* batches;
  overflow_policy* full;
  void on_open(connection& c) const {
    ids->push_back(c.id());
    if (ids->size() == 1) return;
    c.set_limits(low(*full));
    c.throttle_source(ids->front());
  }
  void operator()(connection& c, bytes in) const {
    ++*batches;
    for (const connection_id id : *ids)
      if (id != ids->front()) (void)c.registry().send(id, in);
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(one_that_is_closed_for_being_full_leaves_its_source_as_it_was, bdata::make(shapes), s) {
  std::vector<connection_id> ids;
  int batches = 0;
  overflow_policy full = overflow_policy::close;
  world<fan> w(1, s, fan{&ids, &batches, &full});
  const int source = w.connect(), closed_peer = w.connect();
  for (int i = 0; i < 100 && !w.ended(closed_peer); ++i) w.send(source, std::string(10 * kib, 'a'));
  BOOST_TEST(w.ended(closed_peer));
  full = overflow_policy::pause;
  (void)w.connect();  // reads nothing either, and is waited for
  for (int i = 0; i < 30; ++i) w.send(source, std::string(10 * kib, 'b'));
  const int held = batches;
  w.send(source, "more");
  BOOST_TEST(batches == held);
}

namespace {

struct pausing {
  std::vector<connection_id>* ids;
  std::string* seen;
  void on_open(connection& c) const { ids->push_back(c.id()); }
  void operator()(connection& c, bytes in) const {
    *seen += in;
    c.pause_reading();
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(a_handler_pauses_and_resumes_reading, bdata::make(shapes), s) {
  std::vector<connection_id> ids;
  std::string seen;
  world<pausing> w(1, s, pausing{&ids, &seen});
  const int client = w.connect();
  w.send(client, "1");
  BOOST_TEST(seen == "1");
  w.send(client, "2");
  w.send(client, "3");
  w.sim.network().shutdown_send(client);
  w.sim.run_until_quiet();
  BOOST_TEST(seen == "1");
  BOOST_TEST(!w.ended(client));  // nor has the end been looked at
  for (int i = 0; i < 3; ++i) {
    (void)w.server->connections().post(ids[0], [](connection& c) { c.resume_reading(); });
    w.sim.run_until_quiet();
  }
  BOOST_TEST(seen == "123");
  BOOST_TEST(w.ended(client));
}
