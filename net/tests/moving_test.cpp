// SPDX-License-Identifier: BSL-1.0
// moving_test: connections migrate between loops driven by hand, by themselves or asked by the rebalancer.
#include "world.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace quintet;
using testing::shape;
using testing::world;
namespace bdata = boost::unit_test::data;

namespace {

const std::vector<shape> with_loops{{3, false}, {3, true}};

/// Answers each line by its number and the line. A line of one digit moves the connection to that loop.
struct roaming_handler {
  int* closed;
  int lines = 0;
  std::size_t operator()(connection& c, bytes in) {
    std::size_t used = 0;
    for (std::size_t nl; (nl = in.find('\n', used)) != bytes::npos; used = nl + 1) {
      const bytes line = in.substr(used, nl - used);
      c.write(std::to_string(++lines) + ":" + std::string(line) + "\n");
      if (line.size() == 1 && line[0] >= '0' && line[0] <= '2') moves(c, static_cast<std::size_t>(line[0] - '0'));
    }
    return used;
  }
  void on_close(connection&, error_code) const { ++*closed; }
  static inline const std::vector<event_loop*>* loops = nullptr;

 private:
  static void moves(connection& c, std::size_t to) {
    const bool there = loops->at(to) == &c.loop();
    BOOST_TEST(c.move_to(*loops->at(to)) == !there);
  }
};

struct roaming_world : world<roaming_handler> {
  roaming_world(int& closed, std::uint64_t seed, const shape& s, const rebalance_options& rebalance = {})
      : world(seed, s, roaming_handler{&closed},
              {.high_watermark = 4096, .low_watermark = 1024, .message_timeout = std::chrono::seconds(1)}, 1U << 30U,
              rebalance) {
    roaming_handler::loops = &server->loops();
  }
  std::vector<std::uint64_t> open_on_each() {
    std::vector<std::uint64_t> open;
    for (event_loop* loop : server->loops()) open.push_back(loop->counters().open());
    return open;
  }
};

const rebalance_options eager{.factor = 1.2};

}  // namespace

// With any order of turns and any sizes of receives and sends, the answers are those of a connection that never moved.
BOOST_DATA_TEST_CASE(nothing_is_lost_doubled_or_reordered, bdata::make(with_loops) * bdata::xrange(40), s, seed) {
  int closed = 0;
  roaming_world w(closed, static_cast<std::uint64_t>(seed), s);
  constexpr std::size_t clients = 6;
  std::vector<int> handles;
  std::vector<std::string> expected(clients), outputs(clients);
  for (std::size_t i = 0; i < clients; ++i) {
    handles.push_back(w.sim.network().connect(w.port));
    std::string input;
    for (int n = 1; n <= 150; ++n) {
      const std::string line = w.sim.random()() % 5 == 0 ? std::to_string(w.sim.random()() % 3)
                                                         : std::string(2 + w.sim.random()() % 300, 'x');
      input += line + "\n";
      expected[i] += std::to_string(n) + ":" + line + "\n";
    }
    w.sim.network().send(handles[i], input);
  }
  for (std::size_t quiet = 0; quiet < 2; ++quiet) {  // the window is small: output waits until a client receives it
    w.sim.run_until_quiet();
    for (std::size_t i = 0; i < clients; ++i)
      if (const std::string more = w.sim.network().receive(handles[i]); !more.empty()) {
        outputs[i] += more;
        quiet = 0;
      }
  }
  for (std::size_t i = 0; i < clients; ++i) BOOST_TEST(outputs[i] == expected[i]);
  const server_statistics stats = w.statistics();
  BOOST_TEST(stats.moved_here > 0U);
  BOOST_TEST(stats.moved_here == stats.moved_away);
  BOOST_TEST(closed == 0);
  for (const int h : handles) w.sim.network().close(h);
  w.sim.run_until_quiet();
  BOOST_TEST(closed == static_cast<int>(clients));
  BOOST_TEST(w.statistics().closed == clients);
}

// The deadline of an incomplete message stays the same when the connection migrates.
BOOST_DATA_TEST_CASE(a_deadline_moves_along, bdata::make(with_loops), s) {
  int closed = 0;
  roaming_world w(closed, 1, s);
  const int c = w.connect();
  w.send(c, "unfin");
  w.sim.advance(std::chrono::milliseconds(600));
  const connection_id id = w.server->connections().all().at(0);
  w.server->connections().post(id, [](connection& it) { (void)it.move_to(*roaming_handler::loops->at(2)); });
  w.sim.advance(std::chrono::milliseconds(300));
  BOOST_TEST(w.statistics().moved_here == 1U);
  BOOST_TEST(closed == 0);
  w.sim.advance(std::chrono::milliseconds(200));
  BOOST_TEST(closed == 1);
  BOOST_TEST(w.ended(c));
}

BOOST_DATA_TEST_CASE(stopped_while_they_move, bdata::make(with_loops) * bdata::xrange(20), s, seed) {
  int closed = 0;
  {
    roaming_world w(closed, static_cast<std::uint64_t>(seed), s);
    for (int i = 0; i < 6; ++i) (void)w.connect();
    for (const connection_id id : w.server->connections().all())
      w.server->connections().post(id, [seed](connection& it) {
        (void)it.move_to(*roaming_handler::loops->at(static_cast<std::size_t>(seed) % 3));
      });
  }
  BOOST_TEST(closed == 6);
}

// ---- The rebalancer -------------------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_skew_goes_away, bdata::make(with_loops), s) {
  int closed = 0;
  roaming_world w(closed, 1, s, {.factor = 1.2, .interval = std::chrono::milliseconds(100)});
  std::vector<int> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(w.connect());
  for (const int c : clients) w.send(c, "0\n");
  BOOST_TEST(w.open_on_each() == (std::vector<std::uint64_t>{60, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(w.statistics().rebalanced == 0U);
  w.sim.advance(std::chrono::milliseconds(200));
  BOOST_TEST(w.open_on_each() == (std::vector<std::uint64_t>{20, 20, 20}), boost::test_tools::per_element());
  BOOST_TEST(w.statistics().rebalanced == 1U);
  for (const int c : clients) BOOST_TEST(w.converse(c, "a\n").ends_with("2:a\n"));
  w.sim.advance(std::chrono::seconds(10));
  BOOST_TEST(w.statistics().rebalanced == 1U);  // no further round
}

BOOST_DATA_TEST_CASE(it_waits_until_it_has_cooled_down, bdata::make(with_loops), s) {
  int closed = 0;
  roaming_world w(closed, 1, s, {.factor = 1.2, .interval = std::chrono::milliseconds(500)});
  std::vector<int> clients;
  for (int i = 0; i < 30; ++i) clients.push_back(w.connect());
  for (const int c : clients) w.send(c, "0\n");
  w.sim.advance(std::chrono::milliseconds(600));
  BOOST_TEST(w.statistics().rebalanced == 1U);
  for (const int c : clients) w.send(c, "1\n");
  w.sim.advance(std::chrono::milliseconds(700));
  BOOST_TEST(w.statistics().rebalanced == 1U);
  w.sim.advance(std::chrono::milliseconds(400));
  BOOST_TEST(w.statistics().rebalanced == 2U);
  BOOST_TEST(w.open_on_each() == (std::vector<std::uint64_t>{10, 10, 10}), boost::test_tools::per_element());
}

// Otherwise the connection would move to and fro forever.
BOOST_AUTO_TEST_CASE(one_connection_alone_stays) {
  int closed = 0;
  roaming_world w(closed, 1, {3, false}, eager);
  (void)w.connect();
  w.sim.advance(std::chrono::seconds(10));
  BOOST_TEST(w.statistics().moved_here == 0U);
}

BOOST_AUTO_TEST_CASE(off_unless_it_is_asked_for) {
  int closed = 0;
  roaming_world w(closed, 1, {3, false});
  for (int i = 0; i < 30; ++i) w.send(w.connect(), "0\n");
  w.sim.advance(std::chrono::seconds(10));
  BOOST_TEST(w.open_on_each() == (std::vector<std::uint64_t>{30, 0, 0}), boost::test_tools::per_element());
}

// A model without loops of its own accepts the same options, and does nothing.
BOOST_AUTO_TEST_CASE(one_loop_for_all) {
  int closed = 0;
  roaming_world w(closed, 1, {0, false}, eager);
  const int c = w.connect();
  w.sim.advance(std::chrono::seconds(1));
  BOOST_TEST(w.converse(c, "a\n") == "1:a\n");
  BOOST_TEST(w.server->loops().empty());
}
