// SPDX-License-Identifier: BSL-1.0
// limits_test: what is refused, what fails and why, and that nothing grows without a bound.
#include <boost/test/unit_test.hpp>

#include "bus_world.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

/// Runs f on the node's loop.
template <class F>
void on_loop(noting_node& n, F f) {
  bool ran = false;
  n.node.loop().post([&] {
    f();
    ran = true;
  });
  BOOST_TEST(drive_until({&n}, [&] { return ran; }));
}

BOOST_AUTO_TEST_CASE(wrong_options_are_named) {
  BOOST_CHECK_THROW(bus_node({}), config_error);
  BOOST_CHECK_THROW(bus_node({.id = 1, .max_message = 1000, .max_unacknowledged = 1999}), config_error);
  BOOST_CHECK_THROW(bus_node({.id = 1, .max_checksum_errors = 0}), config_error);
  bus_node one({.id = 1});
  BOOST_CHECK_THROW(bus_node({.id = 1}), config_error);
  BOOST_CHECK_THROW(one.connect(1), config_error);
  BOOST_CHECK_THROW(one.connect(2, {"nonsense"}), config_error);
}

BOOST_AUTO_TEST_CASE(a_message_above_the_limit_is_refused_and_one_at_the_limit_arrives) {
  noting_node a({.id = 1, .max_message = 1000}), b({.id = 2, .max_message = 1000});
  a.node.connect(2);
  BOOST_TEST(a.node.send(2, std::string(1001, 'x')) == error_code(errc::message_too_big));
  on_loop(a, [&] { BOOST_TEST(a.node.send(2, std::string(1001, 'x')) == error_code(errc::message_too_big)); });
  BOOST_TEST(!a.node.send(2, std::string(1000, 'x')));
  BOOST_TEST(!a.node.send(2, ""));
  BOOST_TEST(drive_until({&a, &b}, [&] { return b.count == 2; }));
  BOOST_TEST(b.messages[0].payload.size() == 1000U);
  BOOST_TEST(b.messages[1].payload.empty());
}

BOOST_AUTO_TEST_CASE(nodes_with_other_limits_do_not_connect) {
  noting_node a({.id = 1, .max_message = 1000}), b({.id = 2, .max_message = 2000});
  a.node.connect(2);
  BOOST_TEST(drive_until({&a, &b}, [&] { return b.node.statistics().malformed >= 2; }));
  BOOST_TEST(a.routes.empty());
}

BOOST_AUTO_TEST_CASE(the_queue_of_unacknowledged_messages_is_bounded_and_room_is_reported) {
  noting_node a({.id = 1, .max_unacknowledged = 256 * 1024});
  a.node.connect(2);
  std::uint64_t sent = 0, completed = 0;
  on_loop(a, [&] {
    while (!a.node.send(2, std::string(1000, 'x'), [&](error_code why) { completed += why ? 0 : 1; })) ++sent;
    BOOST_TEST(a.node.send(2, std::string(1000, 'x')) == error_code(errc::output_full));
  });
  BOOST_TEST(sent == 256U * 1024 / 1016);
  BOOST_TEST(a.rooms == 0U);
  noting_node b({.id = 2});
  BOOST_TEST(drive_until({&a, &b}, [&] { return completed == sent; }));
  BOOST_TEST(a.rooms == 1U);
  BOOST_TEST(b.count == sent);
}

// What other threads send waits where max_posted bounds it, and is not lost while the queue is full.
BOOST_AUTO_TEST_CASE(messages_of_other_threads_are_bounded_and_kept_in_order) {
  noting_node a({.id = 1, .max_message = 400, .max_unacknowledged = 128 * 1024, .max_posted = 512 * 1024});
  noting_node b({.id = 2, .max_message = 400});
  numbered_stream received;
  b.on_message = [&](const bus_message& m) { received(m); };
  std::uint64_t sent = 0, size = 0;
  for (;;) {
    const std::string next = numbered(sent);
    if (a.node.send(2, next) == errc::output_full) break;
    size += next.size() + 64;
    ++sent;
  }
  BOOST_TEST(size <= 512U * 1024);
  BOOST_TEST(size > 511U * 1024);
  a.node.connect(2);
  // Nobody knew the peer when these messages were taken, so they have no way. The next ones wait in the link.
  BOOST_TEST(drive_until({&a, &b}, [&] { return a.node.route_of(2).has_value(); }));
  BOOST_TEST(a.node.statistics().unroutable == sent);
  sent = 0;
  std::thread other([&] {
    while (sent < 20'000)
      if (!a.node.send(2, numbered(sent))) ++sent;
  });
  BOOST_TEST(drive_until({&a, &b}, [&] { return received.next == 20'000; }));
  other.join();
  BOOST_TEST(received.wrong == 0U);
}

BOOST_AUTO_TEST_CASE(empty_messages_and_messages_to_the_node_itself_are_bounded_too) {
  for (const std::uint64_t to : {1U, 2U}) {
    noting_node a({.id = 1, .max_message = 400, .max_posted = 64 * 1024});
    std::uint64_t sent = 0;
    while (!a.node.send(to, "")) ++sent;  // another thread's, so they wait for the loop
    BOOST_TEST(sent == 1024U);
    BOOST_TEST(a.node.send(to, "") == error_code(errc::output_full));
  }
  noting_node a({.id = 1, .max_message = 400, .max_posted = 64 * 1024});
  std::uint64_t sent = 0, completed = 0;
  on_loop(a, [&] {
    while (!a.node.send(1, "", [&](error_code why) { completed += why ? 0 : 1; })) ++sent;
  });
  BOOST_TEST(sent == 1024U);
  BOOST_TEST(drive_until({&a}, [&] { return completed == sent; }));
  BOOST_TEST(a.count == sent);
  BOOST_TEST(!a.node.send(1, "again"));
}

// The queue is empty after its messages have failed.
BOOST_AUTO_TEST_CASE(room_is_reported_when_the_messages_of_a_full_queue_fail) {
  noting_node a({.id = 1, .max_unacknowledged = 128 * 1024, .unreachable_after = 20ms});
  a.node.connect(2);
  on_loop(a, [&] {
    while (!a.node.send(2, std::string(1000, 'x'))) {
    }
  });
  BOOST_TEST(drive_until({&a}, [&] { return a.rooms == 1; }));
  BOOST_TEST(a.node.statistics().failed > 100U);
  on_loop(a, [&] { BOOST_TEST(!a.node.send(2, "there is room")); });
}

BOOST_AUTO_TEST_CASE(completions_say_why_a_message_was_not_delivered) {
  noting_node a({.id = 1, .unreachable_after = 20ms});
  std::vector<error_code> results;
  const auto done = [&](error_code why) { results.push_back(why); };
  a.node.connect(2);
  BOOST_TEST(!a.node.send(2, "to nobody", done));
  BOOST_TEST(drive_until({&a}, [&] { return results.size() == 1; }));
  BOOST_TEST(results[0] == system_error_code(ETIMEDOUT));
  a.node.connect(3);
  BOOST_TEST(!a.node.send(3, "to be dropped", done));
  a.node.disconnect(3);
  BOOST_TEST(drive_until({&a}, [&] { return results.size() == 2; }));
  BOOST_TEST(results[1] == system_error_code(ECANCELED));
  BOOST_TEST(!a.node.send(4, "without a link", done));  // another thread learns of it later
  BOOST_TEST(drive_until({&a}, [&] { return results.size() == 3; }));
  BOOST_TEST(results[2] == system_error_code(EHOSTUNREACH));
}

BOOST_AUTO_TEST_CASE(the_end_of_a_node_completes_what_waits) {
  noting_node a({.id = 1});
  std::vector<error_code> results;
  const auto done = [&](error_code why) { results.push_back(why); };
  a.node.connect(2);
  on_loop(a, [&] { BOOST_TEST(!a.node.send(2, "in the queue", done)); });
  BOOST_TEST(!a.node.send(2, "posted", done));
  a.finish();
  BOOST_TEST_REQUIRE(results.size() == 2U);
  BOOST_TEST(results[0] == error_code(errc::stopped));
  BOOST_TEST(results[1] == error_code(errc::stopped));
  BOOST_TEST(a.node.send(2, "after the end", done) == error_code(errc::stopped));
  BOOST_TEST(results.size() == 2U);
}

BOOST_AUTO_TEST_CASE(peers_above_the_limit_are_refused) {
  noting_node a({.id = 1, .max_peers = 2}), b({.id = 2}), c({.id = 3}), d({.id = 4});
  const std::vector<noting_node*> all{&a, &b, &c, &d};
  for (noting_node* n : {&b, &c}) n->node.connect(1);
  BOOST_TEST(drive_until(all, [&] { return a.routes.size() == 2; }));
  d.node.connect(1);
  BOOST_TEST(drive_until(all, [&] { return d.node.statistics().failed_attempts >= 2; }));
  BOOST_TEST(!d.node.route_of(1));
  BOOST_TEST(a.routes.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_node_runs_on_its_own_thread_and_stops) {
  std::atomic<int> delivered{0};
  bus_node a({.id = 1}), b({.id = 2, .on_messages = [&](auto all) { delivered += static_cast<int>(all.size()); }});
  a.run_in_background();
  b.run_in_background();
  BOOST_CHECK_THROW(a.run_in_background(), std::logic_error);
  a.connect(2);
  std::promise<error_code> result;
  const auto send = [&] { return a.send(2, "hello", [&](error_code why) { result.set_value(why); }); };
  BOOST_TEST(!send());
  BOOST_TEST(!result.get_future().get());
  BOOST_TEST(delivered == 1);
}

}  // namespace
}  // namespace quintet::test
