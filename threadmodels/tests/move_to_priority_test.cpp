// SPDX-License-Identifier: BSL-1.0
// move_to_priority_test: connections migrate to the priority loop: by their first bytes, by their address, or when the
// handler says so. They take all their state; nothing is lost, doubled or reordered.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/threadmodels/server.hpp>

#include <pthread.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

bool on_the_priority_loop() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return std::string_view(name.data()) == "qnt-priority";
}

config configuration(model kind) {
  return {.listen = {"127.0.0.1:0"},
          .model = kind,
          .threads = {.loops = 2, .workers = {2, 2}, .offload = {.policy = offload_policy::always}},
          .engine = engine_kind::epoll};
}

/// Handles lines; "go" migrates to the priority loop. The answer has three parts: "L" on the priority loop or else "o",
/// the number of lines so far, and the line.
struct counting_handler {
  int count = 0;
  std::string seen = {};  // not trivially movable
  std::atomic<int>* closed = nullptr;
  void operator()(connection& c, bytes line) {
    seen += line;
    c.write((on_the_priority_loop() ? "L" : "o") + std::to_string(++count) + std::string(line) + "\n");
    if (line == "go") c.write(c.move_to_priority_loop() ? "" : "refused\n");
  }
  void on_close(connection&, error_code) const {
    if (closed) ++*closed;
  }
};
auto counting(std::atomic<int>* closed = nullptr) {
  return framed(delimiter("\n"), counting_handler{.closed = closed});
}
using counting_server = server;

config with_priority_loop(model kind) {
  config c = configuration(kind);
  c.advanced.priority.without_listener = true;
  return c;
}

/// "hb" is a heartbeat, anything else is not. An "h" alone is undecided.
struct classifying_handler {
  static connection_class classify(bytes first) {
    if (first == "h") return connection_class::undecided;
    return first.starts_with("hb") ? connection_class::priority : connection_class::ordinary;
  }
  static void operator_impl(connection& c, bytes in) {
    c.write((on_the_priority_loop() ? "L" : "o") + std::string(in));
  }
  void operator()(connection& c, bytes in) const { operator_impl(c, in); }
};

BOOST_DATA_TEST_CASE(a_connection_takes_everything_with_it, data::make(all_models), kind) {
  std::atomic<int> closed{0};
  running<counting_server> srv(with_priority_loop(kind), counting(&closed));
  client c(srv->port());
  c.send("a\ngo\nb\nunfin");  // one batch, with the beginning of the next
  BOOST_TEST(c.receive_line() == "o1a");
  BOOST_TEST(c.receive_line() == "o2go");
  BOOST_TEST(c.receive_line() == "o3b");
  BOOST_TEST(eventually([&] { return srv->statistics().moved_here == 1; }));
  c.send("ished\nc\n");
  BOOST_TEST(c.receive_line() == "L4unfinished");
  BOOST_TEST(c.receive_line() == "L5c");
  c.send("go\n");  // it is already on the priority loop
  BOOST_TEST(c.receive_line() == "L6go");
  BOOST_TEST(c.receive_line() == "refused");
  BOOST_TEST(srv->statistics().priority.open == 1U);
  BOOST_TEST(srv->connections().size() == 1U);
  BOOST_TEST(closed == 0);
  c.finish_sending();
  BOOST_TEST(c.receive_rest().empty());
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  BOOST_TEST(closed == 1);
  BOOST_TEST(
      eventually([&] { return srv->statistics().priority.open == 0U; }));  // the priority loop is notified afterwards
}

// Many connections migrate during requests. No byte is lost, doubled or reordered.
BOOST_DATA_TEST_CASE(under_way_while_it_moves, data::make(all_models), kind) {
  running<counting_server> srv(with_priority_loop(kind), counting());
  constexpr int connections = 20, lines = 300;
  std::vector<client> clients;
  for (int i = 0; i < connections; ++i) clients.emplace_back(srv->port());
  for (std::size_t i = 0; i < clients.size(); ++i) {
    std::string all;
    for (int n = 1; n <= lines; ++n) all += n == static_cast<int>(10 * i) + 5 ? "go\n" : "x" + std::to_string(n) + "\n";
    BOOST_TEST(clients[i].send(all));
  }
  bool right = true;
  for (client& c : clients) {
    for (int n = 1; n <= lines; ++n) {
      const std::string line = c.receive_line();
      right = right && line.substr(1).starts_with(std::to_string(n)) &&
              (line.ends_with("go") || line.ends_with("x" + std::to_string(n)));
    }
    c.send("last\n");
    BOOST_TEST(c.receive_line() == "L" + std::to_string(lines + 1) + "last");
  }
  BOOST_TEST(right);
}

// Others migrate it through the registry, and keep sending to the same id.
BOOST_DATA_TEST_CASE(by_id_while_others_send_to_it, data::make(all_models), kind) {
  running<counting_server> srv(with_priority_loop(kind), counting());
  client c(srv->port());
  c.send("a\n");
  BOOST_TEST(c.receive_line() == "o1a");
  const connection_id id = srv->connections().all().at(0);
  constexpr int messages = 2000;
  std::thread sender([&] {
    for (int n = 0; n < messages; ++n) {
      (void)srv->connections().send(id, std::to_string(n) + "\n");
      if (n == messages / 2)
        (void)srv->connections().post(id, [](connection& it) { (void)it.move_to_priority_loop(); });
    }
  });
  bool right = true;
  for (int n = 0; n < messages; ++n) right = right && c.receive_line() == std::to_string(n);
  sender.join();
  BOOST_TEST(right);
  BOOST_TEST(eventually([&] { return srv->statistics().moved_here == 1; }));
  c.send("b\n");
  BOOST_TEST(c.receive_line() == "L2b");
  BOOST_TEST(!srv->connections().send(id, "still known\n"));
  BOOST_TEST(c.receive_line() == "still known");
  BOOST_TEST(!srv->connections().close(id));
  BOOST_TEST(c.receive_rest().empty());
}

BOOST_DATA_TEST_CASE(by_its_first_bytes, data::make(all_models), kind) {
  running<server> srv(configuration(kind), classifying_handler());
  client beat(srv->port()), other(srv->port()), slow(srv->port());
  beat.send("hb1");
  BOOST_TEST(beat.receive(4) == "Lhb1");
  other.send("data");
  BOOST_TEST(other.receive(5) == "odata");
  other.send("hb");  // only the first bytes count
  BOOST_TEST(other.receive(3) == "ohb");
  slow.send("h");
  BOOST_TEST(eventually([&] { return srv->statistics().bytes_received >= 10; }));
  slow.send("b2");
  BOOST_TEST(slow.receive(4) == "Lhb2");
  BOOST_TEST(srv->statistics().moved_here == 2U);
}

// No further byte can decide: it is an ordinary connection, and its handler gets the input so far.
BOOST_DATA_TEST_CASE(undecided_to_the_end, data::make(all_models), kind) {
  running<server> srv(configuration(kind), classifying_handler());
  client c(srv->port());
  c.send("h");
  c.finish_sending();
  BOOST_TEST(c.receive_rest() == "oh");
}

BOOST_DATA_TEST_CASE(by_its_address, data::make(all_models), kind) {
  config c = configuration(kind);
  c.listen = {"127.0.0.1:0"};
  c.advanced.priority.peers = [](const address& from) { return from.host() == "127.0.0.1"; };
  running<server> srv(c, classifying_handler());
  client here(srv->port());
  here.send("x");
  BOOST_TEST(here.receive(2) == "Lx");
  BOOST_TEST(srv->statistics().priority.open == 1U);
}

// A full priority loop accepts no connection. The connection stays where it is.
BOOST_DATA_TEST_CASE(a_full_priority_loop, data::make(all_models), kind) {
  config c = with_priority_loop(kind);
  c.advanced.priority.max_connections = 1;
  running<counting_server> srv(c, counting());
  client first(srv->port()), second(srv->port());
  first.send("go\n");
  BOOST_TEST(first.receive_line() == "o1go");
  BOOST_TEST(eventually([&] { return srv->statistics().moved_here == 1; }));
  second.send("go\n");
  BOOST_TEST(second.receive_line() == "o1go");
  second.send("a\n");
  BOOST_TEST(second.receive_line() == "o2a");
  BOOST_TEST(srv->statistics().moved_here == 1U);
}

BOOST_DATA_TEST_CASE(without_a_priority_loop, data::make(all_models), kind) {
  running<counting_server> srv(configuration(kind), counting());
  client c(srv->port());
  c.send("go\n");
  BOOST_TEST(c.receive_line() == "o1go");
  BOOST_TEST(c.receive_line() == "refused");
}

// The server stops while connections migrate: each ends once, and nothing is left.
BOOST_DATA_TEST_CASE(stopping_while_they_move, data::make(all_models), kind) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> closed{0};
    {
      running<counting_server> srv(with_priority_loop(kind), counting(&closed));
      std::vector<client> clients;
      for (int i = 0; i < 20; ++i) clients.emplace_back(srv->port());
      for (client& c : clients) c.send("a\n");
      for (client& c : clients) (void)c.receive_line();
      for (client& c : clients) c.send("go\n");
    }
    BOOST_REQUIRE(closed == 20);
  }
}

}  // namespace
}  // namespace quintet::test
