// SPDX-License-Identifier: BSL-1.0
// stopping: stop() ends everything, from anywhere and in any state. run() returns when nothing is left.
#include "scenario.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

void check_that_all_were_stopped(scenario_run& run, service_host& host) {
  BOOST_TEST(host.seen().closed_count() == host.seen().opened_count());
  if (run.under().is_coroutine()) return;
  for (const error_code& why : host.seen().reasons()) BOOST_TEST(why == make_error_code(errc::stopped));
}

}  // namespace

QUINTET_SCENARIO(stop_under_load) {
  constexpr std::size_t count = 8;
  service_host& host = run.serve();
  std::vector<std::thread> clients;
  std::atomic<std::size_t> warm{0}, wrong{0};
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back([&, c = host.connect()]() mutable {
      for (int n = 0; c.send("delay 50 x\necho y\n"); ++n) {
        const std::string x = c.receive_line(), y = c.receive_line();
        if (c.ended() != ending::none) break;
        wrong += x != "x" || y != "y";
        warm += n == 10;
      }
    });
  }
  BOOST_TEST(eventually([&] { return warm == count; }));
  host.stop();
  host.join();
  for (std::thread& t : clients) t.join();
  BOOST_TEST(wrong == 0u);
  check_that_all_were_stopped(run, host);
  run.note("stopped", std::to_string(host.seen().closed_count()));
}

QUINTET_SCENARIO(stop_while_idle) {
  service_host& host = run.serve({.service = {.greeting = true}});
  std::vector<client> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(host.connect());
    run.note("client", clients.back().receive_line());
  }
  host.stop();
  host.join();
  for (client& c : clients) run.note_rest("client", c);
  check_that_all_were_stopped(run, host);
}

QUINTET_SCENARIO(stop_before_run) {
  service_host& host = run.serve({.stop_before_run = true});
  host.join();
  run.note("accepted", std::to_string(host.statistics().accepted));
}

QUINTET_SCENARIO(stop_from_inside_a_handler) {
  service_host& host = run.serve();
  client c = host.connect(), other = host.connect();
  other.send("echo other\n");
  run.note("other", other.receive_line());
  c.send("stop\n");
  host.join();
  c.receive_rest();
  other.receive_rest();
  BOOST_TEST((c.ended() != ending::none && other.ended() != ending::none));
  check_that_all_were_stopped(run, host);
}

// The reply of 64 MB cannot be sent. In the blocking model, the connection's thread waits in send().
QUINTET_SCENARIO(stop_while_a_peer_does_not_read) {
  service_host& host = run.serve();
  client lazy = host.connect({.receive_buffer = 16 * 1024});
  lazy.send("size 67108864\n");
  run.note("first bytes", lazy.receive(10));
  host.stop();
  host.join();
  check_that_all_were_stopped(run, host);
}

QUINTET_SCENARIO(stop_while_handlers_are_busy) {
  service_host& host = run.serve();
  std::vector<client> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(host.connect());
  BOOST_REQUIRE(host.seen().await_opened(3));  // before one of them blocks the loop that must open the others
  for (client& c : clients) c.send("block\necho lost\n");
  BOOST_REQUIRE(host.block().await_waiting(1));
  host.stop();
  host.block().open();
  host.join();
  for (client& c : clients) c.receive_rest();
  check_that_all_were_stopped(run, host);
}

// Connections that arrive while the server stops are either opened and closed, or never opened.
QUINTET_SCENARIO(stop_while_connections_arrive) {
  run.leave_out_counts();
  for (int round = 0; round < 20; ++round) {
    service_host& host = run.serve();
    std::vector<client> clients;
    for (int i = 0; i < 12; ++i) clients.push_back(host.connect());
    clients.front().send("stop\n");
    host.join();
    check_that_all_were_stopped(run, host);
  }
  run.note("rounds", "20");
}

}  // namespace quintet::test
