// SPDX-License-Identifier: BSL-1.0
// accept_strategies_test: with each accept strategy all clients are served, by the right loop, under the same limits.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/needs.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace quintet {

static std::ostream& operator<<(std::ostream& out, accept_strategy s) { return out << to_string(s); }

namespace test {
namespace {

namespace data = boost::unit_test::data;
using quintet::testing::scratch_directory;

constexpr model with_loops[] = {model::loop_per_thread, model::loop_per_thread_pool};
constexpr unsigned loops = 3;

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};
using echo_server = running<server>;

bool answers(client& c) {
  c.send("x");
  return c.receive(1) == "x";
}

/// Stores the lines of the log.
struct told {
  std::mutex mutex;
  std::vector<std::string> lines;
  log_hook hook() {
    return [this](const log_event& e) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(e.what);
    };
  }
  bool has(const std::string& part) {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(lines, [&](const std::string& l) { return l.find(part) != l.npos; });
  }
};

std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<unsigned>(i), &set)) cpus.push_back(i);
  return cpus;
}

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// The epoll and io_uring engines can watch one socket from several loops; the Asio engine cannot.
accept_strategy expected(accept_strategy wanted, const std::string& engine) {
  return wanted == accept_strategy::exclusive && engine == "asio" ? accept_strategy::reuse_port : wanted;
}

BOOST_DATA_TEST_CASE(everybody_is_served_whoever_accepts,
                     data::make(with_loops) * data::make({accept_strategy::main_reactor, accept_strategy::reuse_port,
                                                          accept_strategy::exclusive}),
                     kind, strategy) {
  echo_server srv(config{.listen = {"127.0.0.1:0", quintet::testing::another_loopback()},
                         .model = kind,
                         .threads = {.loops = loops},
                         .advanced = {.accept = strategy}},
                  echo());
  BOOST_TEST((srv->accept() == expected(strategy, std::string(srv->main_loop().io().capabilities().name))));
  std::vector<client> clients;
  for (int i = 0; i < 60; ++i) {
    clients.emplace_back(srv->addresses()[0].port());
    clients.push_back(client::over(quintet::testing::connected_to(srv->addresses()[1]).release()));
  }
  for (client& c : clients) BOOST_TEST(answers(c));
  const server_statistics s = srv->statistics();
  BOOST_TEST(s.accepted == clients.size());
  BOOST_TEST(s.accepted_by_each.size() == (strategy == accept_strategy::main_reactor ? 1u : loops));
  BOOST_TEST(sum(s.accepted_by_each) == clients.size());
  if (srv->accept() ==
      accept_strategy::reuse_port)  // a hash spreads 60 connections over three loops: an empty loop is no coincidence
    for (const std::uint64_t n : s.accepted_by_each) BOOST_TEST(n > 0u);
}

/// Counts the open connections on each loop of a server.
struct where {
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
  std::shared_ptr<std::map<event_loop*, int>> open = std::make_shared<std::map<event_loop*, int>>();
  void on_open(connection& c) const { count(c, 1); }
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_close(connection& c, error_code) const { count(c, -1); }
  void count(connection& c, int change) const {
    const std::lock_guard lock(*mutex);
    (*open)[&c.loop()] += change;
  }
  std::vector<int> sorted() const {
    const std::lock_guard lock(*mutex);
    std::vector<int> counts;
    for (const auto& [loop, n] : *open) counts.push_back(n);
    std::ranges::sort(counts);
    return counts;
  }
};

BOOST_DATA_TEST_CASE(round_robin_keeps_the_loops_within_one_connection, data::make(with_loops), kind) {
  const where seen;
  running<server> srv(config{.model = kind, .threads = {.loops = loops}}, seen);
  std::vector<client> clients;
  for (std::size_t open = 1; open <= 31; ++open) {
    BOOST_TEST(answers(clients.emplace_back(srv->port())));
    const std::vector<int> counts = seen.sorted();
    BOOST_TEST(counts.size() == std::min<std::size_t>(open, loops));
    BOOST_TEST(counts.back() - counts.front() <= 1);
  }
  BOOST_TEST(seen.sorted() == (std::vector<int>{10, 10, 11}), boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(the_loop_with_the_fewest_gets_the_next, data::make(with_loops), kind) {
  const where seen;
  running<server> srv(
      config{.model = kind, .threads = {.loops = loops}, .placement = {.policy = placement_policy::least_connections}},
      seen);
  std::vector<client> clients;
  for (int i = 0; i < 30; ++i) BOOST_TEST(answers(clients.emplace_back(srv->port())));
  BOOST_TEST(seen.sorted() == (std::vector<int>{10, 10, 10}), boost::test_tools::per_element());
  // Two loops keep one connection each, and one loop keeps its ten. New connections fill up the two.
  for (std::size_t i = 29; i > 2; --i)
    if (i % loops != 0) clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
  BOOST_TEST(eventually([&] { return seen.sorted() == std::vector<int>{1, 1, 10}; }));
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 18u; }));
  for (int i = 0; i < 18; ++i) BOOST_TEST(answers(clients.emplace_back(srv->port())));
  BOOST_TEST(seen.sorted() == (std::vector<int>{10, 10, 10}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_address_stays_on_one_loop) {
  const where seen;
  running<server> srv(config{.threads = {.loops = loops}, .placement = {.policy = placement_policy::peer_hash}}, seen);
  std::vector<client> clients;
  for (int i = 0; i < 20; ++i) BOOST_TEST(answers(clients.emplace_back(srv->port())));
  BOOST_TEST(seen.sorted() == std::vector<int>{20}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_choice_of_the_users_own_sees_address_and_counts) {
  const where seen;
  config c{.threads = {.loops = loops}};
  c.placement.place_by = [](const address& from, std::span<const std::size_t> open) -> std::size_t {
    if (open.size() != loops) throw 4;
    if (from.host() != "127.0.0.1") throw 5;
    return open[2] < 5 ? 2 : open[0] < 3 ? 0 : 99;  // 99 is no loop
  };
  running<server> srv(c, seen);
  std::vector<client> clients;
  for (int i = 0; i < 8; ++i) BOOST_TEST(answers(clients.emplace_back(srv->port())));
  BOOST_TEST(seen.sorted() == (std::vector<int>{3, 5}), boost::test_tools::per_element());
  client surplus(srv->port());
  BOOST_TEST(surplus.receive_rest().empty());
  BOOST_TEST(srv->statistics().refused == 1u);
}

BOOST_AUTO_TEST_CASE(models_without_loops_of_their_own_accept_on_the_main_one_and_say_so) {
  for (const model kind : {model::thread_per_connection, model::single_reactor, model::reactor_pool}) {
    told log;
    config c{.model = kind, .log = log.hook(), .advanced = {.accept = accept_strategy::reuse_port}};
    {
      echo_server srv(c, echo());
      BOOST_TEST((srv->accept() == accept_strategy::main_reactor));
      BOOST_TEST(log.has("accept: reuse_port is not available"));
      client one(srv->port());
      BOOST_TEST(answers(one));
    }
    c.advanced.accept_strictly = true;
    BOOST_CHECK_THROW(server(c, echo()), config_error);
  }
}

BOOST_AUTO_TEST_CASE(more_loops_than_cpus_cannot_be_steered) {
  told log;
  config c{.threads = {.loops = 2},
           .log = log.hook(),
           .placement = {.cpus = {own_cpus().front()}},
           .advanced = {.accept = accept_strategy::reuse_port_cpu}};
  const server srv(c, echo());
  BOOST_TEST((srv.accept() == accept_strategy::reuse_port));
  BOOST_TEST(log.has("each loop needs a CPU of its own"));
}

BOOST_AUTO_TEST_CASE(a_cpu_that_is_not_there_is_refused) {
  for (const int cpu : {-1, 100'000})
    BOOST_CHECK_THROW(server(config{.placement = {.cpus = {cpu}}}, echo()), config_error);
}

BOOST_DATA_TEST_CASE(steered_connections_are_accepted_where_they_were_received, data::make(with_loops), kind) {
  const std::vector<int> cpus = own_cpus();
  echo_server srv(config{.listen = {"127.0.0.1:0"},
                         .model = kind,
                         .threads = {.loops = static_cast<unsigned>(cpus.size())},
                         .advanced = {.accept = accept_strategy::reuse_port_cpu}},
                  echo());
  BOOST_REQUIRE((srv->accept() == accept_strategy::reuse_port_cpu));
  // On the loopback interface, the CPU of the connecting thread is the one that receives.
  std::vector<std::uint64_t> expected;
  for (const int cpu : cpus) {
    expected.push_back(10 * expected.size() + 10);
    std::thread([&] {
      cpu_set_t only;
      CPU_ZERO(&only);
      CPU_SET(static_cast<unsigned>(cpu), &only);
      BOOST_REQUIRE(::pthread_setaffinity_np(::pthread_self(), sizeof only, &only) == 0);
      std::vector<client> clients;
      for (std::uint64_t i = 0; i < expected.back(); ++i) BOOST_TEST(answers(clients.emplace_back(srv->port())));
    }).join();
  }
  BOOST_TEST(srv->statistics().accepted_by_each == expected, boost::test_tools::per_element());
  BOOST_TEST(srv->statistics().accepted_locally == sum(expected));
}

BOOST_DATA_TEST_CASE(one_loop_needs_no_steering, data::make(with_loops), kind) {
  config c{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 1}};
  c.advanced = {.accept = accept_strategy::reuse_port_cpu, .accept_strictly = true};
  echo_server srv(c, echo());
  client one(srv->port());
  BOOST_TEST(answers(one));
}

BOOST_AUTO_TEST_CASE(a_port_that_processes_share_is_not_steered) {
  told log;
  config c{.threads = {.loops = static_cast<unsigned>(own_cpus().size())},
           .log = log.hook(),
           .advanced = {.accept = accept_strategy::reuse_port_cpu}};
  c.listen = {{"127.0.0.1:0", {.sharing = port_sharing::processes}}};
  const server srv(c, echo());
  BOOST_TEST((srv.accept() == accept_strategy::reuse_port));
  BOOST_TEST(log.has("other processes may listen at the same port"));
  c.advanced.accept_strictly = true;
  BOOST_CHECK_THROW(server(c, echo()), config_error);
}

// Two servers that want a port for themselves do not share it by mistake.
BOOST_AUTO_TEST_CASE(a_port_is_shared_by_the_loops_of_one_server_only) {
  config c{.listen = {"127.0.0.1:0"}, .threads = {.loops = loops}, .advanced = {.accept = accept_strategy::reuse_port}};
  const server first(c, echo());
  c.listen = {"127.0.0.1:" + std::to_string(first.port())};
  BOOST_CHECK_EXCEPTION(server(c, echo()), boost::system::system_error,
                        [](const auto& e) { return e.code() == boost::system::errc::address_in_use; });
}

BOOST_AUTO_TEST_CASE(processes_that_say_so_share_a_port) {
  for (const accept_strategy strategy : {accept_strategy::main_reactor, accept_strategy::reuse_port}) {
    config c{.threads = {.loops = loops}, .advanced = {.accept = strategy}};
    c.listen = {{"127.0.0.1:0", {.sharing = port_sharing::processes}}};
    echo_server first(c, echo());
    c.listen.front().at = "127.0.0.1:" + std::to_string(first->port());
    echo_server second(c, echo());
    std::vector<client> clients;
    for (int i = 0; i < 60; ++i) BOOST_TEST(answers(clients.emplace_back(first->port())));
    BOOST_TEST(first->statistics().accepted > 0u);
    BOOST_TEST(second->statistics().accepted > 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_unix_socket_is_watched_by_all_loops) {
  const scratch_directory directory;
  const std::string path = directory.file("socket");
  echo_server srv(
      config{
          .listen = {"unix:" + path}, .threads = {.loops = loops}, .advanced = {.accept = accept_strategy::reuse_port}},
      echo());
  for (int i = 0; i < 30; ++i) {
    client c = client::over(quintet::testing::connected_to(address("unix:" + path)).release());
    BOOST_TEST(answers(c));
  }
  BOOST_TEST(srv->statistics().accepted == 30u);
}

/// Counts the open connections, and their maximum.
struct counted {
  struct counts {
    std::atomic<int> now{0}, most{0};
  };
  std::shared_ptr<counts> of = std::make_shared<counts>();
  void on_open(connection&) const {
    const int n = ++of->now;
    int most = of->most;
    while (n > most && !of->most.compare_exchange_weak(most, n)) {
    }
  }
  void operator()(connection& c, bytes in) const { c.write(in); }
  void on_close(connection&, error_code) const { --of->now; }
};

BOOST_DATA_TEST_CASE(the_limit_is_one_for_all_loops_and_nobody_waits_for_ever,
                     data::make(with_loops) * data::make({accept_strategy::reuse_port, accept_strategy::exclusive}),
                     kind, strategy) {
  const counted handler;
  running<server> srv(config{.model = kind,
                             .threads = {.loops = loops},
                             .accepting = {.max_connections = 2},
                             .advanced = {.accept = strategy}},
                      handler);
  std::vector<std::thread> threads;
  std::atomic<int> served{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        client c(srv->port());
        served += answers(c);
      }
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(served == 300);
  BOOST_TEST(handler.of->most <= 2);
  BOOST_TEST(srv->statistics().refused == 0u);
}

/// An address that no other test uses, so that a connection succeeds only if this server listens.
constexpr const char* alone = "127.0.5.1:0";

BOOST_DATA_TEST_CASE(who_drains_listens_no_more,
                     data::make(with_loops) * data::make({accept_strategy::reuse_port, accept_strategy::exclusive}),
                     kind, strategy) {
  echo_server srv(
      config{.listen = {alone}, .model = kind, .threads = {.loops = loops}, .advanced = {.accept = strategy}}, echo());
  const address at = srv->addresses().front();
  std::vector<client> clients;
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(answers(clients.emplace_back(client::over(quintet::testing::connected_to(at).release()))));
  srv->drain(patience);
  for (client& c : clients) BOOST_TEST(c.receive_rest().empty());
  srv.join();
  BOOST_TEST(!quintet::testing::can_connect(at));
}

}  // namespace
}  // namespace test
}  // namespace quintet
