// SPDX-License-Identifier: BSL-1.0
// overload_test: work that has waited too long for a pool gets on_overload, exactly once. All other work runs as usual.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

constexpr unsigned workers = 2;

config overloaded_soon(model kind) {
  return {.listen = {"127.0.0.1:0"},
          .model = kind,
          .threads = {.loops = 2,
                      .workers = {.min = workers, .max = workers, .stuck_time = 10ms, .overload_latency = 100ms},
                      .offload = {.policy = offload_policy::always}}};
}

/// "w" waits at the gate. The answer is "d" for done, or "o" for overload.
struct waiting_handler {
  gate* holds;
  void operator()(connection& c, bytes in) const {
    if (in == "w") holds->wait();
    c.write("d");
  }
  void on_overload(connection& c, bytes) const { c.write("o"); }
};

/// Sends requests until the overload ends, when an item has begun after a short wait.
template <class Server>
bool ends(client& c, Server& srv) {
  return eventually([&] {
    c.send("x\n");
    (void)c.receive(1);
    return srv.statistics().workers.decisions.back().what == worker_event::overload_ends;
  });
}

std::vector<client> connect(std::uint16_t port, std::size_t count) {
  std::vector<client> all;
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(port);
  return all;
}

}  // namespace

// No worker will run the queued items, so the loops answer them. Clients may ask again, and get another answer.
BOOST_DATA_TEST_CASE(all_workers_are_stuck, data::make(pooled_models), kind) {
  gate holds;
  running<server> srv(overloaded_soon(kind), waiting_handler{&holds});
  auto stuck = connect(srv->port(), workers);
  for (client& c : stuck) c.send("w");
  const bool all_stuck = holds.await_waiting(workers);
  auto others = connect(srv->port(), 20);
  std::string answers;
  for (int round = 0; round < 2; ++round) {
    for (client& c : others) c.send("x");
    for (client& c : others) answers += c.receive(1);
  }
  const worker_statistics then = srv->statistics().workers;
  holds.open();
  BOOST_TEST(all_stuck);
  BOOST_TEST(answers == std::string(40, 'o'));
  BOOST_TEST(then.shed == 40U);
  BOOST_TEST(then.overloads == 1U);
  BOOST_TEST(!then.decisions.empty());
  BOOST_TEST((then.decisions.back().what == worker_event::overload_begins));
  for (client& c : stuck) BOOST_TEST(c.receive(1) == "d");
  BOOST_TEST(ends(others[0], *srv));
}

// The workers make progress, and shed items that have waited too long.
BOOST_DATA_TEST_CASE(more_than_they_can_do, data::make(pooled_models), kind) {
  struct slow_handler {
    void operator()(connection& c, bytes) const {
      std::this_thread::sleep_for(2ms);  // this is the slow work, not a wait for a condition
      c.write("d");
    }
    static std::size_t on_overload(connection& c, bytes in) {
      c.write("o");
      return in.size();
    }
  };
  running<server> srv(overloaded_soon(kind), slow_handler());
  auto clients = connect(srv->port(), 300);
  std::string answers;
  for (client& c : clients) c.send("x");
  for (client& c : clients) answers += c.receive(1);
  const auto shed = static_cast<std::size_t>(std::ranges::count(answers, 'o'));
  BOOST_TEST(answers.size() == clients.size());
  BOOST_TEST(shed + static_cast<std::size_t>(std::ranges::count(answers, 'd')) == clients.size());
  BOOST_TEST(shed > 0U);
  BOOST_TEST(srv->statistics().workers.shed == shed);
}

// Batches of a handler without on_overload wait as long as they have to.
BOOST_DATA_TEST_CASE(without_on_overload_everything_waits, data::make(pooled_models), kind) {
  struct patient_handler {
    gate* holds;
    void operator()(connection& c, bytes in) const {
      if (in == "w") holds->wait();
      c.write("d");
    }
  };
  gate holds;
  running<server> srv(overloaded_soon(kind), patient_handler{&holds});
  auto stuck = connect(srv->port(), workers);
  for (client& c : stuck) c.send("w");
  BOOST_TEST(holds.await_waiting(workers));
  auto others = connect(srv->port(), 10);
  for (client& c : others) c.send("x");
  BOOST_TEST(eventually([&] { return srv->statistics().workers.overloads == 1; }));
  holds.open();
  for (client& c : others) BOOST_TEST(c.receive(1) == "d");
  BOOST_TEST(srv->statistics().workers.shed == 0U);
}

// Each message of a batch is answered. An incomplete message stays.
BOOST_DATA_TEST_CASE(framed_messages, data::make(pooled_models), kind) {
  const auto make = [](gate* holds) { return framed(delimiter("\n"), waiting_handler{holds}); };
  gate holds;
  running<server> srv(overloaded_soon(kind), make(&holds));
  auto stuck = connect(srv->port(), workers);
  for (client& c : stuck) c.send("w\n");
  BOOST_TEST(holds.await_waiting(workers));
  client other(srv->port());
  other.send("a\nb\nc");
  BOOST_TEST(other.receive(2) == "oo");
  holds.open();
  for (client& c : stuck) BOOST_TEST(c.receive(1) == "d");
  BOOST_TEST(ends(stuck[0], *srv));
  other.send("\n");
  BOOST_TEST(other.receive(1) == "d");
}

// Work from loops waits a moment before a thread is added. While all threads are stuck, one after the other is added.
BOOST_AUTO_TEST_CASE(a_server_grows_for_latency) {
  gate holds;
  config c = overloaded_soon(model::loop_per_thread_pool);
  c.threads.workers = {.min = 1, .max = 4, .overload_latency = 0s};
  running<server> srv(c, waiting_handler{&holds});
  auto clients = connect(srv->port(), 6);
  for (client& one : clients) one.send("w");
  BOOST_TEST(holds.await_waiting(4));
  const worker_statistics then = srv->statistics().workers;
  holds.open();
  BOOST_TEST(then.threads == 4U);
  BOOST_TEST(then.grown_at_once == 0U);
  BOOST_TEST(then.grown() == 3U);
  for (const worker_decision& d : then.decisions) BOOST_TEST((d.waited >= c.threads.workers.queue_latency));
  for (client& one : clients) BOOST_TEST(one.receive(1) == "d");
}

}  // namespace quintet::test
