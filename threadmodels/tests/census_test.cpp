// SPDX-License-Identifier: BSL-1.0
// census_test: each model has the threads of its table, however many connections there are.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "census.hpp"
#include "service_host.hpp"

#include <map>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;
using census = std::map<std::string, std::size_t>;

constexpr worker_limits pool{3, 3};  // fixed; an elastic pool has as many threads as it needs, see below

/// Does not include the thread that calls run(): here its name is "test-run", and it is counted separately.
census expected(model kind, std::size_t connections) {
  switch (kind) {
    case model::thread_per_connection:
      return {{"qnt-conn-", connections}};
    case model::single_reactor:
      return {};
    case model::reactor_pool:
      return {{"qnt-work-", pool.max}};
    case model::loop_per_thread:
      return {{"qnt-loop-", host_loops}};
    case model::loop_per_thread_pool:
      return {{"qnt-loop-", host_loops}, {"qnt-work-", pool.max}};
  }
  return {};
}

/// Waits, because a thread exists before it has its name, and for a moment after it has ended.
bool becomes(const census& wanted) {
  return eventually([&] { return threads_named("qnt-") == wanted && threads_named(run_thread_name).size() == 1; });
}

std::string to_text(const census& c) {
  std::string text;
  for (const auto& [name, count] : c) text += name + "*: " + std::to_string(count) + " ";
  return text;
}

BOOST_DATA_TEST_CASE(threads_are_those_of_the_table, data::make(all_combinations), under) {
  {
    const auto host = make_host(under, {.workers = pool});
    std::vector<client> clients;
    for (const std::size_t connections : {1u, 10u, 100u}) {
      while (clients.size() < connections) clients.push_back(host->connect());
      for (client& c : clients) {
        c.send("sum 10\n");
        BOOST_REQUIRE(c.receive_line() == "55");
      }
      const census wanted = expected(under.kind, connections);
      BOOST_TEST(becomes(wanted), under << " with " << connections << " connections has "
                                        << to_text(threads_named("qnt-")) << "but should have " << to_text(wanted));
    }
  }
  BOOST_TEST(eventually(no_server_threads));
}

BOOST_DATA_TEST_CASE(a_priority_port_adds_one_thread, data::make(all_models), kind) {
  const auto host = make_host({kind, flavour::callback}, {.with_priority_port = true, .workers = pool});
  client heart(host->priority_port());
  heart.send("echo beat\n");
  BOOST_REQUIRE(heart.receive_line() == "beat");
  census wanted = expected(kind, 0);
  std::erase_if(wanted, [](const auto& entry) { return entry.second == 0; });
  wanted["qnt-priority"] = 1;
  BOOST_TEST(becomes(wanted), kind << " has " << to_text(threads_named("qnt-")));
}

// The pool needs all its workers when as many handlers block.
BOOST_AUTO_TEST_CASE(an_elastic_pool_grows_to_its_maximum_and_no_further) {
  const auto host = make_host({model::loop_per_thread_pool, flavour::callback});
  std::vector<client> clients;
  for (unsigned i = 0; i < host_workers.max + 2; ++i) {
    clients.push_back(host->connect());
    clients.back().send("block\n");
  }
  BOOST_REQUIRE(host->block().await_waiting(host_workers.max));
  BOOST_TEST(becomes({{"qnt-loop-", host_loops}, {"qnt-work-", host_workers.max}}));
  host->block().open();
  for (client& c : clients) BOOST_TEST(c.receive_line() == "unblocked");
}

// Model 1 blocks in recv(): its connections are in no epoll set.
BOOST_AUTO_TEST_CASE(thread_per_connection_has_no_reactor_for_its_connections) {
  const auto host = make_host({model::thread_per_connection, flavour::callback});
  client first = host->connect();
  first.send("echo first\n");
  BOOST_REQUIRE(first.receive_line() == "first");
  const std::size_t sets = descriptors_of("anon_inode:[eventpoll]");
  const std::size_t events = descriptors_of("anon_inode:[eventfd]");
  BOOST_TEST(sets == 1u);  // the main loop's, which accepts
  std::vector<client> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(host->connect());
    clients.back().send("echo x\n");
    BOOST_REQUIRE(clients.back().receive_line() == "x");
  }
  BOOST_TEST(descriptors_of("anon_inode:[eventpoll]") == sets);
  BOOST_TEST(descriptors_of("anon_inode:[eventfd]") == events);
}

}  // namespace
}  // namespace quintet::test
