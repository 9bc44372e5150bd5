// SPDX-License-Identifier: BSL-1.0
// allocations_test: messages without a completion cost no allocation each.
// ctest: NOT_UNDER address|thread
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/counted_new.hpp"
#include "bus_world.hpp"

namespace quintet::test {
namespace {

BOOST_AUTO_TEST_CASE(messages_of_a_turn_share_their_allocations) {
  for (const bus_route route : {bus_route::shm, bus_route::unix_socket, bus_route::mem}) {
    noting_node a({.id = 1}), b({.id = 2, .listen = {fresh_bus_address()}});
    a.keeps = b.keeps = false;
    a.node.connect(2, b.node.addresses());
    a.node.use_route(2, route);
    BOOST_TEST(drive_until({&a, &b}, [&] { return a.node.route_of(2) == route; }));
    const std::string payload(100, 'x');
    std::uint64_t sent = 0;
    const auto send_round = [&] {
      const std::uint64_t goal = sent + 1000;
      a.node.loop().post([&] {
        while (sent < goal && !a.node.send(2, payload)) ++sent;
      });
      BOOST_TEST_REQUIRE(drive_until({&a, &b}, [&] { return b.count == goal; }));
    };
    send_round();  // buffers grow to their sizes
    send_round();
    const std::uint64_t before = allocations;
    for (int round = 0; round < 100; ++round) send_round();
    BOOST_TEST(sent == 102'000U);
    BOOST_TEST_CONTEXT(route) BOOST_TEST(allocations - before < sent / 50);
  }
}

}  // namespace
}  // namespace quintet::test
