// SPDX-License-Identifier: BSL-1.0
// kv_costs_test: in every model, a warm kv server allocates nothing for a request and needs at most one receive and one
// send.
#include "costs.hpp"

#include "kv/session.hpp"

#include <string>
#include <vector>

namespace {

using costs::ask;
using costs::connect_to;
using costs::exchange;

BOOST_AUTO_TEST_CASE(answering_does_not_allocate) {
  const std::array exchanges{exchange{"PING\r\n", "+PONG\r\n"}, exchange{"*1\r\n$4\r\nPING\r\n", "+PONG\r\n"},
                             exchange{"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n", "+OK\r\n"},
                             exchange{"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", "$5\r\nvalue\r\n"}};
  kv::store store;
  store.set("key", "value");
  costs::check_no_allocation(kv::session(store, {}), exchanges);
}

// Returns receives and sends per request, for requests sent `pipelined` at a time on each of 100 connections.
double completions(quintet::model m, quintet::bytes request, int pipelined) {
  constexpr int rounds = 10;
  std::string requests, replies;
  for (int i = 0; i < pipelined; ++i) {
    requests += request;
    replies += "+PONG\r\n";
  }
  kv::store store;
  quintet::server server({.listen = {"127.0.0.1:0"}, .model = m, .threads = {.workers = {2, 2}}},
                         kv::session(store, {}));
  std::thread running([&] { server.run(); });
  std::vector<quintet::file_descriptor> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(connect_to(server.port()));
  for (const auto& fd : clients) ask(fd.get(), rounds, requests, replies);
  server.stop();
  running.join();  // completes the counters
  const auto counted = server.statistics();
  return static_cast<double>(counted.receives + counted.sends) / (100.0 * rounds * pipelined);
}

// A server that reads arrays line by line would need two completions more for each request.
BOOST_AUTO_TEST_CASE(a_request_is_one_receive_and_one_send) {
  for (const quintet::model m : quintet::all_models) {
    BOOST_TEST_CONTEXT(quintet::to_string(m)) {
      BOOST_TEST(completions(m, "PING\r\n", 1) == 2.0);
      BOOST_TEST(completions(m, "*1\r\n$4\r\nPING\r\n", 1) == 2.0);
      BOOST_TEST(completions(m, "*1\r\n$4\r\nPING\r\n", 16) == 2.0 / 16);
    }
  }
}

}  // namespace
