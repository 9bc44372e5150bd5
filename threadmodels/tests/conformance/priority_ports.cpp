// SPDX-License-Identifier: BSL-1.0
// priority_ports: the priority port, and early flushes.
#include "scenario.hpp"

#include <vector>

namespace quintet::test {
namespace {

/// Returns how many handlers can block at once: the number of ordinary threads that run handlers.
std::size_t ordinary_threads(model kind, std::size_t connections) {
  switch (kind) {
    case model::thread_per_connection:
      return connections;
    case model::single_reactor:
      return 1;
    case model::loop_per_thread:
      return host_loops;
    case model::reactor_pool:
    case model::loop_per_thread_pool:
      return host_workers.max;
  }
  return 0;
}

}  // namespace

QUINTET_SCENARIO(priority_port_answers_while_all_threads_are_blocked) {
  constexpr std::size_t count = 12;
  service_host& host = run.serve({.with_priority_port = true});
  std::vector<client> blocked;
  for (std::size_t i = 0; i < count; ++i) {
    blocked.push_back(host.connect());
    blocked.back().send("block\n");
  }
  const std::size_t threads = ordinary_threads(run.under().kind, count);
  BOOST_REQUIRE(host.block().await_waiting(threads));
  for (int i = 0; i < 3; ++i) {
    client heart(host.priority_port());
    heart.send("echo beat\nsum 3\n");
    run.note("heart", heart.receive_line());
    run.note("heart", heart.receive_line());
  }
  BOOST_TEST(host.block().waiting() == threads);  // it was answered while all of them still waited
  host.block().open();
  for (client& c : blocked) run.note("blocked", c.receive_line());
}

QUINTET_SCENARIO(priority_connections_outlive_nothing) {
  service_host& host = run.serve({.service = {.greeting = true}, .with_priority_port = true});
  client heart(host.priority_port()), ordinary = host.connect();
  run.note("heart", heart.receive_line());
  run.note("ordinary", ordinary.receive_line());
  BOOST_TEST(host.port() != host.priority_port());
  host.stop();
  host.join();
  run.note_rest("heart", heart);
  run.note_rest("ordinary", ordinary);
  BOOST_TEST(host.statistics().accepted == 2u);
  BOOST_TEST(host.statistics().sends_priority == 1u);  // the greeting
}

// A handler can send its output so far before it begins expensive work.
QUINTET_SCENARIO(flush_sends_before_the_batch_ends) {
  service_host& host = run.serve();
  client c = host.connect();
  const bool flushes = run.under().is_coroutine() || !run.under().is_pooled();
  c.send("echo first\nflush\nblock\n");
  BOOST_REQUIRE(host.block().await_waiting(1));
  if (flushes) BOOST_TEST(c.receive(6) == "first\n");
  host.block().open();
  if (!flushes) BOOST_TEST(c.receive(6) == "first\n");
  run.note("end", c.receive_line());
}

}  // namespace quintet::test
