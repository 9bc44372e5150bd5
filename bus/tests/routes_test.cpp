// SPDX-License-Identifier: BSL-1.0
// routes_test: a link takes the fastest route that works, says which, and changes it under traffic.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "bus_world.hpp"

#include <array>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr auto all_routes = std::to_array({bus_route::mem, bus_route::shm, bus_route::unix_socket, bus_route::tcp});

struct two_nodes {
  explicit two_nodes(bus_options a = {}, bus_options b = {}) : one(with(a, 1)), two(with(b, 2)) {}
  static bus_options with(bus_options o, std::uint64_t id) {
    o.id = id;
    o.listen = {fresh_bus_address(), "tcp:127.0.0.1:0"};
    return o;
  }
  template <class Condition>
  bool until(Condition holds) {
    return drive_until({&one, &two}, holds);
  }
  bool until_route(bus_route r) {
    return until([&] { return one.node.route_of(2) == r && two.node.route_of(1) == r; });
  }
  void connect() { one.node.connect(2, two.node.addresses()); }

  noting_node one, two;
};

BOOST_AUTO_TEST_CASE(nodes_of_one_process_are_linked_without_the_kernel) {
  two_nodes n;
  n.one.node.connect(2);
  BOOST_TEST(n.until_route(bus_route::mem));
  BOOST_TEST(n.one.routes.size() == 1U);
  BOOST_TEST(!n.one.node.send(2, "ping"));
  BOOST_TEST(n.until([&] { return !n.two.messages.empty(); }));
  BOOST_TEST(n.two.messages[0].payload == "ping");
  BOOST_TEST(n.two.messages[0].source == 1U);
}

BOOST_DATA_TEST_CASE(messages_and_completions_pass_over_each_route, data::make(all_routes), route) {
  two_nodes n;
  n.connect();
  n.one.node.use_route(2, route);
  BOOST_TEST(n.until_route(route));
  int completed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    BOOST_TEST(!n.one.node.send(2, numbered(i), [&](error_code failed) { completed += failed ? 1'000'000 : 1; }));
    BOOST_TEST(!n.two.node.send(1, numbered(i)));
  }
  BOOST_TEST(n.until([&] { return completed == 1000 && n.one.count == 1000; }));
  BOOST_TEST(n.two.count == 1000U);
  numbered_stream here, there;
  for (const auto& m : n.one.messages) here({m.source, m.payload});
  for (const auto& m : n.two.messages) there({m.source, m.payload});
  BOOST_TEST(here.next == 1000U);
  BOOST_TEST(there.next == 1000U);
  BOOST_TEST(n.one.node.statistics().sent == 1000U);
  BOOST_TEST(n.two.node.statistics().delivered == 1000U);
  BOOST_TEST(n.two.node.statistics().duplicates == n.one.node.statistics().resent);
}

// The queues are full again and again, so acknowledgements leave while messages of the same direction are cut off.
BOOST_DATA_TEST_CASE(full_queues_in_both_directions_spoil_no_frame, data::make(all_routes), route) {
  const std::string payload(3001, 'x');  // outlives the nodes, which run the last posts when they are destroyed
  two_nodes n;
  n.connect();
  n.one.node.use_route(2, route);
  BOOST_TEST(n.until_route(route));
  for (auto* x : {&n.one, &n.two}) x->keeps = false;
  const std::uint64_t connections = n.one.node.statistics().connections + n.two.node.statistics().connections;
  const auto send_all = [&] {
    for (auto [from, to] : {std::pair{&n.one, 2U}, std::pair{&n.two, 1U}})
      from->node.loop().post([from, to, &payload] {
        while (!from->node.send(to, payload)) {
        }
      });
    return n.one.count > 10'000 && n.two.count > 10'000;
  };
  BOOST_TEST(n.until(send_all));
  const bus_statistics s = n.one.node.statistics(), t = n.two.node.statistics();
  BOOST_TEST(s.checksum_errors + t.checksum_errors == 0U);
  BOOST_TEST(s.connections + t.connections == connections);
}

// Both nodes send all the time, from their loops, while one of them asks for another route 200 times.
BOOST_AUTO_TEST_CASE(two_hundred_changes_of_route_under_traffic_lose_double_and_reorder_nothing) {
  std::array<numbered_stream, 2> received;
  std::array<std::uint64_t, 2> sent{};
  two_nodes n;
  n.connect();
  for (auto* x : {&n.one, &n.two}) x->keeps = false;
  n.one.on_message = [&](const bus_message& m) { received[0](m); };
  n.two.on_message = [&](const bus_message& m) { received[1](m); };
  const auto send_some = [&] {
    n.one.node.loop().post([&] {
      for (int i = 0; i < 20 && !n.one.node.send(2, numbered(sent[0])); ++i) ++sent[0];
    });
    n.two.node.loop().post([&] {
      for (int i = 0; i < 20 && !n.two.node.send(1, numbered(sent[1])); ++i) ++sent[1];
    });
  };
  for (std::size_t change = 0; change < 200; ++change) {
    const bus_route next = all_routes[(change * 7 + change / 4) % all_routes.size()];
    n.one.node.use_route(2, next);
    BOOST_TEST_REQUIRE(n.until([&] {
      send_some();
      return n.one.node.route_of(2) == next && n.two.node.route_of(1) == next;
    }));
  }
  BOOST_TEST(n.until([&] { return received[1].next == sent[0] && received[0].next == sent[1]; }));
  BOOST_TEST(received[0].wrong == 0U);
  BOOST_TEST(received[1].wrong == 0U);
  const bus_statistics s = n.one.node.statistics(), t = n.two.node.statistics();
  BOOST_TEST(s.route_changes >= 150U);
  BOOST_TEST(s.resent > 0U);
  BOOST_TEST(s.malformed + t.malformed == 0U);
  BOOST_TEST(t.delivered == sent[0]);
}

BOOST_AUTO_TEST_CASE(both_nodes_may_connect_at_the_same_time) {
  two_nodes n;
  n.one.node.connect(2, n.two.node.addresses());
  n.two.node.connect(1, n.one.node.addresses());
  for (std::uint64_t i = 0; i < 500; ++i) {
    n.until([once = 0]() mutable { return once++ > 0; });
    (void)n.one.node.send(2, numbered(n.one.node.statistics().sent));
    (void)n.two.node.send(1, numbered(n.two.node.statistics().sent));
  }
  BOOST_TEST(n.until_route(bus_route::mem));
  BOOST_TEST(n.until(
      [&] { return n.two.count == n.one.node.statistics().sent && n.one.count == n.two.node.statistics().sent; }));
  numbered_stream here;
  for (const auto& m : n.one.messages) here({m.source, m.payload});
  BOOST_TEST(here.wrong == 0U);
}

}  // namespace
}  // namespace quintet::test
