// SPDX-License-Identifier: BSL-1.0
// pool_set_test: a pool for each loop: work of one loop does not wait for another's, and nothing is lost or locked.
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

config two_loops(bool pool_per_loop) {
  return {.model = model::loop_per_thread_pool,
          .threads = {.loops = 2,
                      .workers = {.min = 1, .max = 1},
                      .offload = {.policy = offload_policy::always},
                      .pool_per_loop = pool_per_loop}};
}

std::string round_trip(client& c, const std::string& text) {
  c.send(text);
  return c.receive(text.size());
}

void echo(connection& c, bytes in) { c.write(in); }

/// "wait" waits at the gate; anything else is echoed.
struct waits_or_echoes {
  gate* hold;
  void operator()(connection& c, bytes in) const {
    if (in == "wait") hold->wait();
    c.write(in);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(work_of_one_loop_does_not_wait_for_another_loop) {
  gate hold;
  running<server<waits_or_echoes>> srv(two_loops(true), waits_or_echoes{&hold});
  client stuck(srv->port()), other(srv->port());
  stuck.send("wait");
  BOOST_REQUIRE(hold.await_waiting(1));
  BOOST_TEST(round_trip(other, "served") == "served");  // round robin: it is on the other loop
  BOOST_TEST(srv->statistics().workers.threads == 2U);
  hold.open();
  BOOST_TEST(stuck.receive(4) == "wait");
}

BOOST_AUTO_TEST_CASE(a_shared_pool_has_one_set_of_threads) {
  running<server<void (*)(connection&, bytes)>> srv(two_loops(false), echo);
  client first(srv->port()), second(srv->port());
  BOOST_TEST(round_trip(first, "a") == "a");
  BOOST_TEST(round_trip(second, "b") == "b");
  BOOST_TEST(srv->statistics().workers.threads == 1U);
}

BOOST_AUTO_TEST_CASE(counters_can_be_read_while_the_pools_stop) {
  gate hold;
  std::function<std::uint64_t()> threads;
  std::atomic<std::uint64_t> most{0};
  const auto look = [&](connection& c, bytes in) {
    hold.wait();
    c.write(in);
    most = std::max<std::uint64_t>(most, threads());  // both workers see the same
  };
  running<server<decltype(look)>> srv(two_loops(true), look);
  threads = [&] { return srv->statistics().workers.threads; };
  client first(srv->port()), second(srv->port());
  first.send("x");
  second.send("y");
  BOOST_REQUIRE(hold.await_waiting(2));
  srv.stop();
  hold.open();
  srv.join();
  BOOST_TEST(most <= 2U);
  BOOST_TEST(srv->statistics().workers.threads == 0U);
}

BOOST_AUTO_TEST_CASE(decisions_of_all_pools_come_in_their_order) {
  gate hold;
  config c = two_loops(true);
  c.threads.workers = {.min = 1, .max = 2, .queue_latency = duration::zero()};
  running<server<waits_or_echoes>> srv(c, waits_or_echoes{&hold});
  std::vector<client> clients;
  for (int i = 0; i < 2; ++i) clients.emplace_back(srv->port()).send("wait");
  BOOST_REQUIRE(hold.await_waiting(2));
  for (int i = 0; i < 2; ++i) BOOST_TEST(round_trip(clients.emplace_back(srv->port()), "grows") == "grows");
  const auto decisions = srv->statistics().workers.decisions;
  BOOST_TEST(decisions.size() == 2U);
  BOOST_TEST(std::ranges::is_sorted(decisions, {}, &worker_decision::when));
  hold.open();
}

}  // namespace quintet::test
