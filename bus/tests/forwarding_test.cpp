// SPDX-License-Identifier: BSL-1.0
// forwarding_test: messages between nodes without a link, through parents; receipts, and what cannot be delivered.
#include <boost/test/unit_test.hpp>

#include "bus_world.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

/// root 100, its children 10 and 2, and 10's child 1.
struct tree {
  noting_node root{{.id = 100}}, inner{{.id = 10, .parent = 100}}, leaf{{.id = 1, .parent = 10}},
      other{{.id = 2, .parent = 100}};
  std::vector<noting_node*> all{&root, &inner, &leaf, &other};
  tree() {
    inner.node.connect(100);
    other.node.connect(100);
    leaf.node.connect(10);
    BOOST_TEST(until([&] { return root.routes.size() == 2 && inner.routes.size() == 2; }));
  }
  template <class Condition>
  bool until(Condition holds) {
    return drive_until(all, holds);
  }
  /// Sends, and returns the completion's result.
  error_code send(noting_node& from, std::uint64_t to, bytes payload) {
    std::optional<error_code> result;
    const auto done = [&](error_code why) { result = why; };
    from.node.loop().post([&] {
      if (const error_code refused = from.node.send(to, payload, done)) done(refused);
    });
    BOOST_TEST_REQUIRE(until([&] { return result.has_value(); }));
    return *result;
  }
};

BOOST_AUTO_TEST_CASE(a_parent_forwards_between_its_children_and_their_children) {
  tree t;
  BOOST_TEST(!t.send(t.leaf, 2, "up and down"));
  BOOST_TEST((t.other.messages == std::vector<noting_node::received>{{1, "up and down"}}));
  // The way back to a node behind a child is known from its message.
  BOOST_TEST(!t.send(t.other, 1, "and back"));
  BOOST_TEST((t.leaf.messages == std::vector<noting_node::received>{{2, "and back"}}));
  BOOST_TEST(!t.send(t.leaf, 100, "to the root"));
  BOOST_TEST(t.root.node.statistics().forwarded == 4U);  // two messages and two receipts
  BOOST_TEST(t.root.node.statistics().delivered == 1U);
}

BOOST_AUTO_TEST_CASE(forwarded_messages_stay_in_order_without_completions) {
  tree t;
  numbered_stream received;
  t.other.on_message = [&](const bus_message& m) { received(m); };
  for (std::uint64_t i = 0; i < 2000; ++i) BOOST_TEST(!t.leaf.node.send(2, numbered(i)));
  BOOST_TEST(t.until([&] { return received.next == 2000; }));
  BOOST_TEST(received.wrong == 0U);
}

BOOST_AUTO_TEST_CASE(a_message_without_a_way_fails) {
  tree t;
  BOOST_TEST(t.send(t.leaf, 99, "to nobody") == system_error_code(EHOSTUNREACH));
  BOOST_TEST(t.root.node.statistics().unroutable == 1U);
  BOOST_TEST(t.send(t.root, 99, "from the root") == system_error_code(EHOSTUNREACH));
}

BOOST_AUTO_TEST_CASE(a_node_may_send_to_itself) {
  tree t;
  BOOST_TEST(!t.send(t.leaf, 1, "note to self"));
  BOOST_TEST((t.leaf.messages == std::vector<noting_node::received>{{1, "note to self"}}));
}

BOOST_AUTO_TEST_CASE(a_ring_of_parents_ends_at_the_hop_limit) {
  noting_node a({.id = 1, .parent = 2}), b({.id = 2, .parent = 3}), c({.id = 3, .parent = 1});
  a.node.connect(2);
  b.node.connect(3);
  c.node.connect(1);
  const std::vector<noting_node*> all{&a, &b, &c};
  BOOST_TEST(drive_until(all, [&] { return a.routes.size() + b.routes.size() + c.routes.size() == 6; }));
  std::optional<error_code> result;
  BOOST_TEST(!a.node.send(99, "round", [&](error_code why) { result = why; }));
  BOOST_TEST(drive_until(all, [&] { return result.has_value(); }));
  BOOST_TEST(*result == system_error_code(ELOOP));
}

BOOST_AUTO_TEST_CASE(a_receipt_for_a_predecessor_completes_nothing) {
  std::optional<error_code> result;  // until the nodes have ended, which completes what waits
  noting_node root({.id = 100}), two({.id = 2, .parent = 100});
  auto one = std::make_unique<noting_node>(bus_options{.id = 1, .parent = 100});
  two.node.connect(100);
  one->node.connect(100);
  BOOST_TEST_REQUIRE(drive_until({&root, one.get(), &two}, [&] { return root.routes.size() == 2; }));
  BOOST_TEST(!one->node.send(2, "of the predecessor", [](error_code) {}));
  BOOST_TEST_REQUIRE(drive_until({&root, one.get()}, [&] { return root.node.statistics().forwarded == 1; }));
  one.reset();  // its id is free again
  one = std::make_unique<noting_node>(bus_options{.id = 1, .parent = 100});
  one->node.connect(100);
  root.node.connect(3);  // which does not exist: the message waits there
  BOOST_TEST_REQUIRE(drive_until({&root, one.get()}, [&] { return one->node.route_of(100).has_value(); }));
  BOOST_TEST(!one->node.send(3, "of the successor", [&](error_code why) { result = why; }));
  const std::vector<noting_node*> all{&root, one.get(), &two};
  BOOST_TEST_REQUIRE(drive_until(all, [&] { return root.node.statistics().forwarded == 3; }));
  const std::uint64_t before = one->node.statistics().delivered;
  BOOST_TEST(!two.node.send(1, "behind the receipt"));
  BOOST_TEST_REQUIRE(drive_until(all, [&] { return one->node.statistics().delivered > before; }));
  BOOST_TEST(!result.has_value());
}

BOOST_AUTO_TEST_CASE(a_receipt_that_never_comes_is_a_timeout) {
  noting_node a({.id = 1, .parent = 2, .receipt_timeout = 20ms}), b({.id = 2});
  a.node.connect(2);
  b.node.connect(3);  // which does not exist: the message waits there
  BOOST_TEST(drive_until({&a, &b}, [&] { return a.node.route_of(2).has_value(); }));
  std::optional<error_code> result;
  BOOST_TEST(!a.node.send(3, "wait", [&](error_code why) { result = why; }));
  BOOST_TEST(drive_until({&a, &b}, [&] { return result.has_value(); }));
  BOOST_TEST(*result == system_error_code(ETIMEDOUT));
}

}  // namespace
}  // namespace quintet::test
