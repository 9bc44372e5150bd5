// SPDX-License-Identifier: BSL-1.0
// memory_shortage_test: all allocations of the nodes of a process fail for a while, from each place on. No message is
// lost without a report or a count, or doubled, and no link stays without a connection.
// ctest: NOT_UNDER thread
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../threadmodels/tests/support/failing_new.hpp"
#include "bus_world.hpp"

#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::uint64_t count = 5;

bus_options options_of(std::uint64_t id) { return {.id = id, .listen = {fresh_bus_address()}}; }

/// Drives the nodes while allocations fail.
void turn_without_memory(const std::vector<noting_node*>& nodes, std::uint64_t first) {
  allocations.fail_number(first, 1'000'000);
  const failing_allocations::spare not_here(false);
  for (int i = 0; i < 10; ++i)
    for (noting_node* n : nodes) n->node.loop().poll();
  allocations.disarm();
}

}  // namespace

BOOST_DATA_TEST_CASE(nothing_is_lost_without_memory, data::make({bus_route::mem, bus_route::unix_socket}), route) {
  const failing_allocations::spare spared;
  for (std::uint64_t first = 1; first <= 30; ++first) {
    noting_node one(options_of(1)), two(options_of(2));
    for (noting_node* n : {&one, &two}) n->keeps = false;
    one.node.use_route(2, route);
    one.node.connect(2, two.node.addresses());
    one.node.use_route(2, route);
    BOOST_TEST_REQUIRE(drive_until({&one, &two}, [&] { return two.node.route_of(1) == route; }));
    std::uint64_t told = 0, arrived = 0;
    const auto note = [&](error_code failed) {
      ++told;
      if (!failed) ++arrived;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
      BOOST_TEST(!one.node.send(2, std::string(20'000, 'x'), note));
      BOOST_TEST(!two.node.send(1, std::string(20'000, 'x'), note));
    }
    turn_without_memory({&one, &two}, first);
    BOOST_TEST_REQUIRE(drive_until({&one, &two}, [&] { return told == 2 * count; }), "from allocation " << first);
    BOOST_TEST(one.count + two.count == arrived);
    BOOST_TEST(!one.node.send(2, "last", note));  // the link works
    BOOST_TEST_REQUIRE(drive_until({&one, &two}, [&] { return told > 2 * count; }), "from allocation " << first);
    BOOST_TEST(one.count + two.count == arrived);
  }
}

// The caller of connect() calls it again, as the log and on_route tell.
BOOST_DATA_TEST_CASE(nodes_that_connect_without_memory_connect_later,
                     data::make({bus_route::mem, bus_route::unix_socket}), route) {
  const failing_allocations::spare spared;
  for (std::uint64_t first = 1; first <= 60; ++first) {
    noting_node one({.id = 1}), two(options_of(2));
    const auto connect = [&] {
      one.node.connect(2, two.node.addresses());
      one.node.use_route(2, route);
    };
    connect();
    turn_without_memory({&one, &two}, first);
    connect();
    const auto is_connected = [&] { return one.node.route_of(2) == route && two.node.route_of(1) == route; };
    BOOST_TEST(drive_until({&one, &two}, is_connected), "from allocation " << first);
  }
}

// Messages without a completion, of which only the counters tell.
BOOST_DATA_TEST_CASE(a_node_without_memory_counts_what_it_does_not_forward,
                     data::make({bus_route::mem, bus_route::unix_socket}), route) {
  const failing_allocations::spare spared;
  std::uint64_t refused = 0;
  for (std::uint64_t first = 1; first <= 30; ++first) {
    noting_node hub({.id = 100, .listen = {fresh_bus_address()}}), one({.id = 1, .parent = 100}),
        two({.id = 2, .parent = 100});
    const std::vector<noting_node*> all{&one, &hub, &two};
    for (noting_node* n : all) n->keeps = false;
    for (noting_node* n : {&one, &two}) {
      n->node.use_route(100, route);
      n->node.connect(100, hub.node.addresses());
      n->node.use_route(100, route);
    }
    BOOST_TEST_REQUIRE(
        drive_until(all, [&] { return hub.node.route_of(1) == route && hub.node.route_of(2) == route; }));
    for (std::uint64_t i = 0; i < count; ++i) BOOST_TEST(!one.node.send(2, std::string(20'000, 'x')));
    turn_without_memory(all, first);
    BOOST_TEST_CONTEXT("from allocation " << first) {
      const auto counted = [&] { return hub.node.statistics().refused + one.node.statistics().refused; };
      BOOST_TEST(drive_until(all, [&] { return two.count + counted() >= count; }));
      BOOST_TEST(two.count + counted() == count);
      BOOST_TEST(!one.node.send(2, "last"));  // the links work
      BOOST_TEST(drive_until(all, [&] { return two.count + counted() > count; }));
      refused += hub.node.statistics().refused;
    }
  }
  BOOST_TEST(refused > 0U);
}

}  // namespace quintet::test
