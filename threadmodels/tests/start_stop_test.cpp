// SPDX-License-Identifier: BSL-1.0
// start_stop_test: servers start and stop a thousand times, in every state.
// ctest: LABELS slow TIMEOUT 300 EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "census.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <thread>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr int times = 400;

const auto echo = [](connection& c, bytes in) { c.write(in); };
awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

/// Stops in a different state each time: before run(), at once, after a connection, during a conversation.
template <class Handler>
void start_and_stop(model kind, Handler handler) {
  const std::size_t descriptors = descriptors_of("");
  int right = 0;
  for (int i = 0; i < times; ++i) {
    running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {1, 2}}}, handler);
    if (i % 4 == 0) srv.stop();
    if (i % 4 == 1) {
      srv.stop();
      srv.join();
    }
    if (i % 4 == 2) {
      const client silent(srv->port());
      srv.stop();
    }
    if (i % 4 == 3) {
      client c(srv->port());
      c.send("x");
      right += c.receive(1) == "x";
      c.send(std::string(1000, 'y'));
      srv.stop();
      srv.join();
    }
  }
  BOOST_TEST(right == times / 4);
  BOOST_TEST(descriptors_of("") == descriptors);
}

BOOST_DATA_TEST_CASE(a_thousand_times, data::make(all_combinations), under) {
  if (under.is_coroutine())
    start_and_stop(under.kind, &echo_coroutine);
  else
    start_and_stop(under.kind, echo);
  BOOST_TEST(eventually(no_server_threads));
}

BOOST_DATA_TEST_CASE(never_run, data::make(all_models), kind) {
  const std::size_t descriptors = descriptors_of("");
  for (int i = 0; i < 100; ++i)
    server(config{.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}}, .model = kind}, echo).stop();
  BOOST_TEST(descriptors_of("") == descriptors);
}

BOOST_DATA_TEST_CASE(stopped_by_many_threads, data::make(all_models), kind) {
  for (int i = 0; i < 50; ++i) {
    running<server> srv(config{.model = kind}, echo);
    std::vector<std::jthread> stoppers;
    for (int t = 0; t < 3; ++t) stoppers.emplace_back([&] { srv.stop(); });
    srv.join();
    for (std::jthread& t : stoppers) t.join();
    BOOST_TEST(srv->statistics().accepted == 0u);
  }
}

BOOST_DATA_TEST_CASE(stopped_by_a_signal, data::make(all_models), kind) {
  server srv(config{.model = kind}, echo);
  const stop_on_signals stopper(srv);
  client c(srv.port());
  c.send("x");
  std::string reply;
  std::jthread sender([&] {
    reply = c.receive(1);
    ::kill(::getpid(), SIGTERM);
  });
  srv.run();
  sender.join();
  BOOST_TEST(reply == "x");
  BOOST_TEST(srv.statistics().closed == 1u);
}

BOOST_DATA_TEST_CASE(in_the_background, data::make(all_models), kind) {
  const std::size_t descriptors = descriptors_of("");
  for (int i = 0; i < 50; ++i) {
    server srv(config{.model = kind}, echo);
    srv.run_in_background();
    client c(srv.port());
    c.send("x");
    BOOST_TEST(c.receive(1) == "x");
    if (i % 3 == 0) srv.stop();
    if (i % 3 == 1) srv.drain(std::chrono::minutes(1)), c.finish_sending();  // else it lingers for a second
    if (i % 3 != 2) srv.join();                                              // else the destructor stops it
    if (i % 3 != 2) BOOST_TEST(srv.statistics().closed == 1u);
  }
  BOOST_TEST(descriptors_of("") == descriptors);
  BOOST_TEST(eventually(no_server_threads));
}

// statistics() may be called at any time, even while the model starts or ends its threads.
BOOST_DATA_TEST_CASE(statistics_while_starting_and_stopping, data::make(all_models), kind) {
  for (int i = 0; i < 100; ++i) {
    running<server> srv(config{.model = kind, .threads = {.loops = 4}}, echo);
    std::jthread asking([&] {
      while (srv->statistics().closed == 0) std::this_thread::yield();
    });
    client(srv->port()).close();
    asking.join();
    srv.stop();
  }
}

}  // namespace
}  // namespace quintet::test
