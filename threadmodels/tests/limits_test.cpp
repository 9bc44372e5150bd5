// SPDX-License-Identifier: BSL-1.0
// limits_test: the limits on accepting, in all five models, where a connection may close on another thread than it was
// accepted on.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};
using echo_server = running<server>;

bool answers(client& c) {
  c.send("x");
  return c.receive(1) == "x";
}

BOOST_DATA_TEST_CASE(a_full_server_serves_the_waiting_when_one_leaves, data::make(all_models), kind) {
  echo_server srv(config{.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}},
                         .model = kind,
                         .accepting = {.max_connections = 4}},
                  echo());
  std::deque<client> clients;
  for (int i = 0; i < 12; ++i) clients.emplace_back(srv->port());
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(answers(clients[i]));
  client heart(srv->priority_port());
  BOOST_TEST(answers(heart));  // the limit does not count connections of the priority loop
  BOOST_TEST(srv->statistics().accepted == 5u);
  for (std::uint64_t gone = 1; !clients.empty(); ++gone) {
    BOOST_TEST(answers(clients.front()));
    clients.pop_front();  // one place is free, for the next waiting client
    BOOST_REQUIRE(eventually([&] { return srv->statistics().accepted == std::min<std::uint64_t>(12, 4 + gone) + 1; }));
    BOOST_TEST(srv->statistics().accepted - srv->statistics().closed <= 5u + 1u);
  }
  BOOST_TEST(srv->statistics().refused == 0u);
  BOOST_TEST(srv->statistics().accept_errors == 0u);
}

/// A server that says `words` to those for whom it has no place.
config with_last_words(model kind, std::string words) {
  config c{.model = kind, .threads = {.loops = 2}, .accepting = {.max_connections = 1, .refuse_when_full = true}};
  c.accepting.on_refused = [words = std::move(words)](error_code why, const address&) {
    return why == errc::too_many_connections ? words : "another reason";
  };
  return c;
}

// The peer sends before it reads, and then goes on: it gets no reset, which may destroy what was said.
BOOST_DATA_TEST_CASE(a_full_server_says_so, data::make(all_models), kind) {
  const std::string sorry = "-ERR max number of clients reached\r\n";
  echo_server srv(with_last_words(kind, sorry), echo());
  client inside(srv->port());
  BOOST_TEST(answers(inside));
  BOOST_TEST(eventually([&] {  // again if the machine has stopped for longer than the server waits
    client outside(srv->port());
    outside.send(std::string(100'000, 'x'));
    BOOST_TEST(outside.receive_rest() == sorry);
    return outside.ended() == ending::orderly && outside.send("more");
  }));
  BOOST_TEST(answers(inside));
  BOOST_TEST(srv->statistics().refused >= 1u);
  inside.close();
  BOOST_TEST(eventually([&] {
    client next(srv->port());
    return answers(next);
  }));
}

BOOST_AUTO_TEST_CASE(what_is_said_to_the_refused_is_bounded) {
  echo_server srv(with_last_words(model::single_reactor, std::string(10'000, 's')), echo());
  client inside(srv->port());
  BOOST_TEST(answers(inside));
  std::deque<client> outside;  // more than the server talks to at once, who do not read
  for (int i = 0; i < 70; ++i) outside.emplace_back(srv->port());
  BOOST_TEST(eventually([&] { return srv->statistics().refused == 70u; }));
  std::size_t told = 0;
  for (client& c : outside) {
    const std::size_t size = c.receive_rest().size();
    BOOST_TEST((size == 4096 || size == 0));
    told += size > 0;
  }
  BOOST_TEST(told == 64u);
  srv.stop();  // while some of them are still waited for
}

// Threads connect and close as fast as they can, above the limit. A lost wake-up would leave one of them waiting.
BOOST_DATA_TEST_CASE(nobody_waits_for_ever_at_the_limit, data::make(all_models), kind) {
  echo_server srv(config{.model = kind, .accepting = {.max_connections = 2}}, echo());
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
}

// Returns a client with this loopback address, 127.x.y.z.
client client_at(const std::string& source, std::uint16_t port) {
  const address at(join_address("127.0.0.1", port)), from(source + ":0");
  file_descriptor fd = testing::socket_for(at);
  BOOST_REQUIRE(::bind(fd.get(), from.data(), from.size()) == 0);
  BOOST_REQUIRE(testing::connect(fd, at));
  return client::over(fd.release());
}

// Clients use addresses of their own: at 127.0.0.1, clients of other tests may still look for a server that had this
// port.
BOOST_DATA_TEST_CASE(surplus_connections_of_one_address_are_refused, data::make(all_models), kind) {
  const std::string crowded = "127.0.77.1";
  std::atomic<int> told{0};
  accept_limits limits{.max_connections_per_address = 2};
  limits.on_refused = [&](error_code why, const address& from) {
    told += why == errc::too_many_from_address && from.host() == crowded;
    return std::string();
  };
  echo_server srv(
      config{.listen = {"0.0.0.0:0", {"127.0.0.1:0", {.priority = true}}}, .model = kind, .accepting = limits}, echo());
  client a = client_at(crowded, srv->port()), b = client_at(crowded, srv->port());
  BOOST_TEST(answers(a));
  BOOST_TEST(answers(b));
  BOOST_TEST(client_at(crowded, srv->port()).receive_rest().empty());
  client other = client_at("127.0.77.2", srv->port()), heart = client_at(crowded, srv->priority_port());
  BOOST_TEST(answers(other));
  BOOST_TEST(answers(heart));
  BOOST_TEST(told == 1);
  BOOST_TEST(srv->statistics().refused == 1u);
  a.close();
  BOOST_TEST(eventually([&] {
    client again = client_at(crowded, srv->port());
    return answers(again);
  }));
}

BOOST_DATA_TEST_CASE(the_rate_delays_and_loses_nobody, data::make(all_models), kind) {
  echo_server srv(config{.model = kind, .accepting = {.accept_rate = 200, .accept_burst = 1}}, echo());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<client> clients;
  for (int i = 0; i < 21; ++i) clients.emplace_back(srv->port());
  for (client& c : clients) BOOST_TEST(answers(c));
  // The rate sets the earliest time; the latest time depends on the machine.
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(100)));
  BOOST_TEST(srv->statistics().refused == 0u);
}

// accept() is tried at most once in 10 ms, so its errors count the failed attempts. No connection is accepted and
// dropped. When descriptors are free again, all are served after one pause.
BOOST_DATA_TEST_CASE(without_descriptors_everybody_waits_and_is_served_later, data::make(all_models), kind) {
  echo_server srv(config{.model = kind}, echo());
  const address at(join_address("127.0.0.1", srv->port()));
  client before(srv->port());
  BOOST_TEST(answers(before));
  std::vector<file_descriptor> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(testing::socket_for(at));
  const auto begin = std::chrono::steady_clock::now();
  const auto most_errors = [begin] {
    const auto pauses = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(10);
    return static_cast<std::uint64_t>(pauses) + 1;
  };
  {
    const testing::no_descriptors none;
    for (const file_descriptor& fd : waiting) BOOST_REQUIRE(testing::connect(fd, at));
    BOOST_REQUIRE(eventually([&] { return srv->statistics().accept_errors >= 4; }));
    const std::uint64_t errors = srv->statistics().accept_errors;
    BOOST_TEST(errors <= most_errors());
    BOOST_TEST(srv->statistics().accepted == 1u);
    BOOST_TEST(answers(before));  // existing connections are not affected
  }
  for (file_descriptor& fd : waiting) {
    client c = client::over(fd.release());
    BOOST_TEST(answers(c));
  }
  const std::uint64_t errors = srv->statistics().accept_errors;
  BOOST_TEST(errors <= most_errors());
  BOOST_TEST(srv->statistics().accepted == 6u);
}

}  // namespace
}  // namespace quintet::test
