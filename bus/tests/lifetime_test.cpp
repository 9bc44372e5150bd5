// SPDX-License-Identifier: BSL-1.0
// lifetime_test: links that are given up and made again, nodes that never run or have stopped, and who may connect.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "bus_world.hpp"

#include <array>
#include <filesystem>
#include <string>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

constexpr auto routes = std::to_array({bus_route::mem, bus_route::shm, bus_route::tcp});

struct two_nodes {
  explicit two_nodes(bus_route r) : route(r) {}
  static bus_options options(std::uint64_t id) {
    return {.id = id, .listen = {fresh_bus_address(), "tcp:127.0.0.1:0"}};
  }
  void connect() {
    one.node.connect(2, two.node.addresses());
    one.node.use_route(2, route);
    BOOST_TEST(until([&] { return one.node.route_of(2) == route && two.node.route_of(1) == route; }));
  }
  template <class Condition>
  bool until(Condition holds) {
    return drive_until({&one, &two}, holds);
  }
  /// Sends ten messages in both directions, and waits for them and their completions.
  void converse() {
    const std::uint64_t first = one.count, second = two.count;
    int completed = 0, failed = 0;
    const auto done = [&](error_code why) { ++(why ? failed : completed); };
    for (std::uint64_t i = 0; i < 10; ++i)
      BOOST_TEST((!one.node.send(2, numbered(i), done) && !two.node.send(1, numbered(i), done)));
    BOOST_TEST(until([&] { return completed + failed == 20 && one.count >= first + 10 && two.count >= second + 10; }));
    BOOST_TEST(failed == 0);
    BOOST_TEST(one.count == first + 10);
    BOOST_TEST(two.count == second + 10);
  }

  const bus_route route;
  noting_node one{options(1)}, two{options(2)};
};

// Its messages have numbers of their own, which mean nothing to the link of the peer from before.
BOOST_DATA_TEST_CASE(a_link_that_was_given_up_is_made_again, data::make(routes), route) {
  two_nodes n(route);
  n.connect();
  n.converse();
  for (int i = 0; i < 3; ++i) {
    n.one.node.disconnect(2);  // this side begins anew
    BOOST_TEST(n.until([&] { return !n.two.node.route_of(1); }));
    n.connect();
    n.converse();
    const std::uint64_t before = n.two.node.statistics().connections;
    n.two.node.disconnect(1);  // the other side does; this one connects again by itself
    BOOST_TEST(n.until([&] { return n.two.node.statistics().connections > before; }));
    BOOST_TEST(n.until([&] { return n.one.node.route_of(2) == route && n.two.node.route_of(1) == route; }));
    n.converse();
  }
  BOOST_TEST(n.one.node.statistics().malformed + n.two.node.statistics().malformed == 0U);
}

BOOST_AUTO_TEST_CASE(a_link_whose_peer_has_forgotten_it_is_made_again) {
  const testing::own_address port;
  noting_node one({.id = 1}), two({.id = 2, .listen = {"tcp:" + port.text()}, .unreachable_after = 1ms});
  int completed = 0;
  const auto done = [&](error_code why) { completed += why ? 100 : 1; };
  one.node.connect(2, two.node.addresses());
  BOOST_TEST(!one.node.send(2, "before", done));
  BOOST_TEST(drive_until({&one, &two}, [&] { return completed == 1; }));
  BOOST_TEST(!two.node.send(1, "so that numbers differ", done));
  BOOST_TEST(drive_until({&one, &two}, [&] { return completed == 2; }));
  one.node.use_route(2, bus_route::tcp);  // begins an attempt in place of the connection
  two.node.disconnect(1);
  BOOST_TEST(!one.node.send(2, "after", done));
  BOOST_TEST(drive_until({&one, &two}, [&] { return completed == 3; }));
  BOOST_TEST(one.node.statistics().malformed + two.node.statistics().malformed == 0U);
}

BOOST_AUTO_TEST_CASE(a_node_that_never_runs_is_destroyed_with_what_was_asked_of_it) {
  bool called = false;
  {
    bus_node n({.id = 1, .listen = {fresh_bus_address()}});
    n.connect(2, {"unix:@nobody"});
    n.use_route(2, bus_route::tcp);
    BOOST_TEST(!n.send(2, "never sent", [&](error_code why) { called = why == errc::stopped; }));
    BOOST_TEST(!n.send(1, "to itself"));
    n.disconnect(2);
  }
  BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(a_stopped_node_that_exists_is_not_found_in_its_process) {
  noting_node one({.id = 1});
  auto two = std::make_unique<noting_node>(bus_options{.id = 2});
  one.node.connect(2);
  BOOST_TEST(drive_until({&one, two.get()}, [&] { return one.node.route_of(2).has_value(); }));
  two->finish();
  const std::uint64_t before = one.node.statistics().failed_attempts;
  BOOST_TEST(drive_until({&one}, [&] { return one.node.statistics().failed_attempts >= before + 3; }));
  two->node.connect(1);              // does nothing
  noting_node successor({.id = 2});  // its id is free
  BOOST_TEST(drive_until({&one, &successor}, [&] { return one.node.route_of(2).has_value(); }));
  two.reset();
}

std::size_t listening_sockets() {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    n += testing::get_option(std::stoi(entry.path().filename()), SOL_SOCKET, SO_ACCEPTCONN) == 1;
  return n;
}

BOOST_AUTO_TEST_CASE(a_node_without_an_address_does_not_listen) {
  const std::size_t before = listening_sockets();
  noting_node n({.id = 1}), other({.id = 2, .listen = {fresh_bus_address()}, .shared_memory = false});
  BOOST_TEST(n.node.addresses().empty());
  BOOST_TEST(listening_sockets() == before + 1);
  n.node.connect(2, other.node.addresses());
  n.node.use_route(2, bus_route::unix_socket);
  BOOST_TEST(drive_until({&n, &other}, [&] { return n.node.route_of(2) == bus_route::unix_socket; }));
}

}  // namespace
}  // namespace quintet::test
