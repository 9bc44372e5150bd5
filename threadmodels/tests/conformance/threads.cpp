// SPDX-License-Identifier: BSL-1.0
// threads: on which threads the callbacks of a connection run, and how connections are spread over loops.
#include "scenario.hpp"

#include "running.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace quintet::test {
namespace {

constexpr std::size_t connections = 10;

/// Many connections that all send several requests, and stay open until the end.
const std::deque<visit>& talk(scenario_run& run) {
  service_host& host = run.serve({.service = {.greeting = true}});
  std::vector<client> clients;
  for (std::size_t i = 0; i < connections; ++i) {
    clients.push_back(host.connect());
    run.note("greeting", clients.back().receive_line());
  }
  for (int round = 0; round < 10; ++round) {
    for (client& c : clients) c.send("delay 20 a\necho b\n");
    for (client& c : clients) BOOST_REQUIRE((c.receive_line() == "a" && c.receive_line() == "b"));
  }
  run.finish();
  return host.seen().visits();
}

bool all_begin_with(const std::set<std::string>& names, std::string_view prefix) {
  return std::ranges::all_of(names, [&](const std::string& name) { return name.starts_with(prefix); });
}

std::string_view name_of_loop_threads(model kind) {
  switch (kind) {
    case model::thread_per_connection:
      return "qnt-conn-";
    case model::single_reactor:
    case model::reactor_pool:
      return run_thread_name;
    default:
      return "qnt-loop-";
  }
}

}  // namespace

// In models 1, 2 and 4, and for all coroutines, callbacks run on the thread of the connection's loop.
QUINTET_SCENARIO(callbacks_are_on_the_thread_they_belong_to) {
  const bool on_loop = run.under().is_coroutine() || !run.under().is_pooled();
  for (const visit& v : talk(run)) {
    BOOST_TEST((on_loop ? v.callbacks.elsewhere : v.callbacks.on_loop) == 0u);
    BOOST_TEST((on_loop ? v.callbacks.on_loop : v.callbacks.elsewhere) > 1u);
    BOOST_TEST(all_begin_with(v.callbacks.names(), on_loop ? name_of_loop_threads(run.under().kind) : "qnt-work-"));
    if (on_loop) BOOST_TEST(v.callbacks.threads.size() == 1u);
  }
}

// Expensive work runs on the pool in models 3 and 5, and on the connection's thread in models 1, 2 and 4.
QUINTET_SCENARIO(expensive_work_is_on_the_pool_where_there_is_one) {
  for (const visit& v : talk(run)) {
    const std::size_t cheap = run.under().is_coroutine() && run.under().is_pooled() ? 10 : 0;  // "echo b"
    BOOST_TEST(v.work.on_loop + v.work.elsewhere == 20u);
    BOOST_TEST(v.work.elsewhere == (run.under().is_pooled() ? 20 - cheap : 0u));
  }
}

QUINTET_SCENARIO(a_thread_for_each_connection_or_for_all) {
  std::set<std::thread::id> threads;
  for (const visit& v : talk(run))
    for (const auto& [id, name] : v.callbacks.threads) threads.insert(id);
  switch (run.under().kind) {
    case model::thread_per_connection:
      BOOST_TEST(threads.size() == connections);
      break;
    case model::single_reactor:
      BOOST_TEST(threads.size() == 1u);
      break;
    case model::loop_per_thread:
      BOOST_TEST(threads.size() == host_loops);
      break;
    case model::reactor_pool:
      BOOST_TEST(threads.size() <= (run.under().is_coroutine() ? 1u : host_workers.max));
      break;
    case model::loop_per_thread_pool:
      BOOST_TEST(threads.size() <= (run.under().is_coroutine() ? host_loops : host_workers.max));
      break;
  }
}

}  // namespace quintet::test
