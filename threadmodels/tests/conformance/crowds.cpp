// SPDX-License-Identifier: BSL-1.0
// crowds: many connections at once, and many in sequence.
#include "scenario.hpp"

#include <vector>

namespace quintet::test {
namespace {

/// Spreads connections over loopback addresses, so that a run does not use up the ports of one address.
client_options from_address(std::size_t i) { return {.host = "127.0.0." + std::to_string(1 + i % 100)}; }

}  // namespace

QUINTET_SCENARIO(a_thousand_connections_at_once) {
  constexpr std::size_t count = 1000;
  service_host& host = run.serve();
  std::vector<client> clients;
  for (std::size_t i = 0; i < count; ++i) clients.push_back(host.connect(from_address(i)));
  BOOST_REQUIRE(host.seen().await_opened(count));
  BOOST_TEST(host.seen().closed_count() == 0u);
  std::size_t right = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count; ++i) clients[i].send("echo " + std::to_string(i) + "\ncount\n");
    for (std::size_t i = 0; i < count; ++i) {
      right += clients[i].receive_line() == std::to_string(i);
      right += clients[i].receive_line() == std::to_string(2 * round + 2);
    }
  }
  run.note("right replies", std::to_string(right));
  BOOST_TEST(right == count * 3 * 2);
  for (client& c : clients) c.reset();
  BOOST_TEST(host.seen().await_closed(count));
}

QUINTET_SCENARIO(connect_and_disconnect_500_times) {
  service_host& host = run.serve({.service = {.greeting = true}});
  std::size_t right = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    client c = host.connect(from_address(i));
    right += c.receive_line() == "hello";
    if (i % 2 == 0) {
      c.send("echo x\n");
      right += c.receive_line() == "x";
    }
    if (i % 3 == 0) c.finish_sending(), c.receive_rest();
    if (i % 5 == 0)
      c.close();
    else
      c.reset();
  }
  BOOST_TEST(host.seen().await_closed(500));
  run.note("right replies", std::to_string(right));
  run.finish();
  BOOST_TEST(host.statistics().accepted == 500u);
  BOOST_TEST(host.statistics().opened == 500u);
}

QUINTET_SCENARIO(bursts_of_connections_that_come_and_go) {
  service_host& host = run.serve();
  std::size_t right = 0;
  for (int burst = 0; burst < 10; ++burst) {
    std::vector<client> clients;
    for (std::size_t i = 0; i < 40; ++i) clients.push_back(host.connect(from_address(i)));
    for (client& c : clients) c.send("delay 100 a\nquit\n");
    for (client& c : clients) right += c.receive_rest() == "a\nbye\n";
  }
  run.note("right replies", std::to_string(right));
  BOOST_TEST(host.seen().await_closed(400));
}

}  // namespace quintet::test
