// SPDX-License-Identifier: BSL-1.0
// moving_test: connections migrate between loops while threads are at work.
#include "../../net/tests/support/toy_filter.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "filtered.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::array looping_models{model::loop_per_thread, model::loop_per_thread_pool};

struct shared_state {
  std::vector<event_loop*> loops;
  std::atomic<int> closed{0};
  [[nodiscard]] std::string number_of(const event_loop& loop) const {
    return std::to_string(std::ranges::find(loops, &loop) - loops.begin());
  }
};

/// Handles lines; a digit migrates to the loop with that number. The answer has three parts: the loop's number, the
/// number of lines so far, and the line.
struct roaming_handler {
  shared_state* all;
  int count = 0;
  std::string seen = {};  // not trivially movable
  void operator()(connection& c, bytes line) {
    seen += line;
    c.write(all->number_of(c.loop()) + " " + std::to_string(++count) + " " + std::string(line) + "\n");
    if (line == "priority" && !c.move_to_priority_loop()) c.write("refused\n");
    if (line.size() == 1 && line[0] >= '0' && line[0] <= '9')
      if (!c.move_to(*all->loops.at(static_cast<std::size_t>(line[0] - '0')))) c.write("refused\n");
  }
  void on_close(connection&, error_code) const { ++all->closed; }
};
auto roaming(shared_state& all) { return framed(delimiter("\n"), roaming_handler{&all}); }
using roaming_server = server;

config configuration(model kind) {
  return {.listen = {"127.0.0.1:0"},
          .model = kind,
          .threads = {.loops = 3, .workers = {2, 2}, .offload = {.policy = offload_policy::always}},
          .engine = engine_kind::epoll};
}

struct roaming_service {
  explicit roaming_service(const config& c) : srv(c, roaming(all)) { all.loops = srv->loops(); }
  shared_state all;
  running<roaming_server> srv;
};

std::vector<std::uint64_t> open_on_each(const shared_state& all) {
  std::vector<std::uint64_t> open;
  for (event_loop* loop : all.loops) open.push_back(loop->counters().open());
  return open;
}

BOOST_DATA_TEST_CASE(a_connection_takes_everything_with_it, data::make(looping_models), kind) {
  roaming_service s(configuration(kind));
  client c(s.srv->port());
  c.send("a\n2\nb\nunfin");  // one batch, with the beginning of the next
  BOOST_TEST(c.receive_line() == "0 1 a");
  BOOST_TEST(c.receive_line() == "0 2 2");
  BOOST_TEST(c.receive_line() == "0 3 b");
  BOOST_TEST(eventually([&] { return s.srv->statistics().moved_here == 1; }));
  c.send("ished\n2\n1\n");
  BOOST_TEST(c.receive_line() == "2 4 unfinished");
  BOOST_TEST(c.receive_line() == "2 5 2");
  BOOST_TEST(c.receive_line() == "refused");  // it is already on that loop
  BOOST_TEST(c.receive_line() == "2 6 1");
  BOOST_TEST(eventually([&] { return s.srv->statistics().moved_here == 2; }));
  c.send("c\n");
  BOOST_TEST(c.receive_line() == "1 7 c");
  BOOST_TEST(s.srv->connections().size() == 1U);
  c.finish_sending();
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return s.srv->statistics().closed == 1; }));
  BOOST_TEST(s.all.closed == 1);
}

// Many connections migrate during requests.
// Its first loop is 0. Records that have arrived in part, bytes that wait in the filter, and the numbers of records.
BOOST_DATA_TEST_CASE(a_filter_moves_with_its_connection, data::make(looping_models), kind) {
  config c = configuration(kind);
  c.listen[0].carry = testing::carry_toy_filter;
  roaming_service at(c);
  client peer = filtered(client(at.srv->port()));
  for (unsigned i = 0; i < 120; ++i) {
    const std::string place = std::to_string((i + 1) % 3), text = 'x' + std::string(std::size_t{i} * 40, 'x');
    BOOST_TEST_REQUIRE(peer.send(place + "\n" + text + "\n"));
    BOOST_TEST(peer.receive_line().ends_with(" " + std::to_string(2 * i + 1) + " " + place));
    BOOST_TEST(peer.receive_line().ends_with(" " + std::to_string(2 * i + 2) + " " + text));
  }
  BOOST_TEST(at.srv->statistics().moved_here >= 60U);
}

BOOST_DATA_TEST_CASE(under_way_while_they_move, data::make(looping_models), kind) {
  roaming_service s(configuration(kind));
  constexpr int connections = 20, lines = 400;
  std::vector<client> clients;
  for (int i = 0; i < connections; ++i) clients.emplace_back(s.srv->port());
  const auto line = [](int i, int n) { return n % 7 == i % 7 ? std::to_string((n / 7 + i) % 3) : "x"; };
  for (int i = 0; i < connections; ++i) {
    std::string all;
    for (int n = 1; n <= lines; ++n) all += line(i, n) + "\n";
    BOOST_TEST(clients[static_cast<std::size_t>(i)].send(all));
  }
  bool right = true;
  for (int i = 0; i < connections; ++i) {
    client& c = clients[static_cast<std::size_t>(i)];
    for (int n = 1; n <= lines; ++n) {
      std::string got = c.receive_line();
      if (got == "refused") got = c.receive_line();
      right = right && got.substr(1) == " " + std::to_string(n) + " " + line(i, n);
    }
  }
  BOOST_TEST(right);
  BOOST_TEST(s.srv->statistics().moved_here > 0U);
}

// Others migrate it through the registry, and keep sending to the same id.
BOOST_DATA_TEST_CASE(by_id_while_others_send_to_it, data::make(looping_models), kind) {
  roaming_service s(configuration(kind));
  client c(s.srv->port());
  c.send("a\n");
  BOOST_TEST(c.receive_line() == "0 1 a");
  const connection_id id = s.srv->connections().all().at(0);
  constexpr int messages = 3000;
  std::thread sender([&] {
    for (int n = 0; n < messages; ++n) {
      while (s.srv->connections().send(id, std::to_string(n) + "\n")) {  // too much output is queued: try again
      }
      if (n % 50 == 0)
        (void)s.srv->connections().post(
            id, [&s, n](connection& it) { (void)it.move_to(*s.all.loops.at(static_cast<std::size_t>(n / 50) % 3)); });
    }
  });
  bool right = true;
  for (int n = 0; n < messages; ++n) right = right && c.receive_line() == std::to_string(n);
  sender.join();
  BOOST_TEST(right);
  BOOST_TEST(eventually([&] { return s.srv->statistics().moved_here > 0; }));
  BOOST_TEST(!s.srv->connections().close(id));
  BOOST_TEST(c.receive_rest().empty());
}

// Models with one loop for all connections, or one for each.
BOOST_DATA_TEST_CASE(where_there_is_nowhere_to_go,
                     data::make({model::thread_per_connection, model::single_reactor, model::reactor_pool}), kind) {
  roaming_service s(configuration(kind));
  BOOST_TEST(s.srv->loops().empty());
  s.all.loops = {&s.srv->main_loop()};
  client c(s.srv->port());
  c.send("0\n");
  (void)c.receive_line();
  BOOST_TEST(c.receive_line() == "refused");
}

// Only move_to_priority_loop() leads to the priority loop, and no connection leaves it.
BOOST_DATA_TEST_CASE(not_from_the_priority_loop_nor_to_it, data::make(looping_models), kind) {
  config cfg = configuration(kind);
  cfg.advanced.priority.without_listener = true;
  roaming_service s(cfg);
  client c(s.srv->port());
  c.send("priority\n");
  BOOST_TEST(c.receive_line() == "0 1 priority");
  BOOST_TEST(eventually([&] { return s.srv->statistics().priority.open == 1; }));
  c.send("1\n");
  BOOST_TEST(c.receive_line() == "3 2 1");
  BOOST_TEST(c.receive_line() == "refused");
}

struct staying_coroutine {
  shared_state* all;
  awaitable<> operator()(stream& s) const {
    while (auto in = co_await s.read()) s.write(s.move_to(*all->loops.at(1)) ? "moves\n" : "stays\n");
  }
};

BOOST_DATA_TEST_CASE(a_coroutine_stays, data::make(looping_models), kind) {
  shared_state all;
  running<server> srv(configuration(kind), staying_coroutine{&all});
  all.loops = srv->loops();
  client c(srv->port());
  c.send("a");
  BOOST_TEST(c.receive_line() == "stays");
}

BOOST_DATA_TEST_CASE(placement_knows_where_they_are, data::make(looping_models), kind) {
  config cfg = configuration(kind);
  cfg.placement.policy = placement_policy::least_connections;
  roaming_service s(cfg);
  std::vector<client> clients;
  const auto join = [&] {
    clients.emplace_back(s.srv->port()).send("a\n");
    return clients.back().receive_line();
  };
  for (int i = 0; i < 6; ++i) (void)join();
  for (client& c : clients) c.send("0\n");
  BOOST_TEST(eventually([&] { return open_on_each(s.all) == std::vector<std::uint64_t>{6, 0, 0}; }));
  for (int i = 0; i < 4; ++i) BOOST_TEST(join() != "0 1 a");
  BOOST_TEST(open_on_each(s.all) == (std::vector<std::uint64_t>{6, 2, 2}));
}

// A migrated connection still counts once for its address.
BOOST_DATA_TEST_CASE(limits_move_along, data::make(looping_models), kind) {
  config cfg = configuration(kind);
  cfg.accepting.max_connections_per_address = 2;
  roaming_service s(cfg);
  client first(s.srv->port()), second(s.srv->port());
  for (client* c : {&first, &second}) {
    c->send("2\n");
    (void)c->receive_line();
  }
  BOOST_TEST(eventually([&] { return s.srv->statistics().moved_here >= 1; }));
  client third(s.srv->port());
  BOOST_TEST(third.receive_rest().empty());
  BOOST_TEST(s.srv->statistics().refused == 1U);
  first.close();
  BOOST_TEST(eventually([&] { return s.srv->statistics().closed == 1; }));
  client fourth(s.srv->port());
  fourth.send("a\n");
  BOOST_TEST(fourth.receive_line().ends_with(" 1 a"));
}

BOOST_DATA_TEST_CASE(stopped_or_drained_while_they_move, data::make(looping_models) * data::make({false, true}), kind,
                     drains) {
  for (int round = 0; round < 10; ++round) {
    roaming_service s(configuration(kind));
    std::vector<client> clients;
    for (int i = 0; i < 20; ++i) clients.emplace_back(s.srv->port());
    for (client& c : clients) c.send("a\n");
    for (client& c : clients) (void)c.receive_line();
    for (client& c : clients) c.send("2\n0\n1\n");
    drains ? s.srv->drain(patience) : s.srv->stop();
    for (client& c : clients) {
      (void)c.receive_rest();
      c.close();  // otherwise the server waits for it, see linger_timeout
    }
    s.srv.join();
    BOOST_REQUIRE(s.all.closed == 20);
  }
}

}  // namespace
}  // namespace quintet::test
