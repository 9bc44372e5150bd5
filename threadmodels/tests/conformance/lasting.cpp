// SPDX-License-Identifier: BSL-1.0
// lasting: messages from outside, limits, and draining act on open connections.
#include "scenario.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

/// Clients in the order of their connections' ids. Each has had one answer.
struct client_group {
  client_group(service_host& host, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(host.connect());
      clients.back().send("count\n");
      BOOST_REQUIRE(clients.back().receive_line() == "1");
      for (const connection_id id : host.connections().all())
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
      BOOST_REQUIRE(ids.size() == i + 1);
    }
  }
  std::vector<client> clients;
  std::vector<connection_id> ids;
};

}  // namespace

QUINTET_SCENARIO(words_from_outside) {
  service_host& host = run.serve();
  client_group c(host, 5);
  for (int i = 0; i < 100; ++i)
    for (std::size_t n = 0; n < c.ids.size(); ++n)
      BOOST_REQUIRE(!host.connections().send(c.ids[n], std::to_string(n) + "." + std::to_string(i) + "\n"));
  for (client& one : c.clients) {
    std::string all;
    for (int i = 0; i < 100; ++i) all += one.receive_line() + "\n";
    run.note("client", all);
    one.send("echo and it goes on\n");
    run.note("client", one.receive_line());
  }
}

QUINTET_SCENARIO(a_broadcast) {
  service_host& host = run.serve();
  client_group c(host, 20);
  const auto word = std::make_shared<const std::string>(std::string(10'000, 'w').append("\n"));
  for (int i = 0; i < 10; ++i) run.note("to", std::to_string(host.connections().broadcast(c.ids, word)));
  for (client& one : c.clients)
    for (int i = 0; i < 10; ++i) run.note("client", one.receive_line());
}

QUINTET_SCENARIO(calls_from_outside) {
  service_host& host = run.serve();
  client_group c(host, 3);
  for (int i = 0; i < 100; ++i)
    for (const connection_id id : c.ids)
      BOOST_REQUIRE(
          !host.connections().post(id, [i](connection& one) { one.write("call " + std::to_string(i) + "\n"); }));
  for (client& one : c.clients)
    for (int i = 0; i < 100; ++i) run.note("client", one.receive_line());
}

QUINTET_SCENARIO(a_call_that_throws) {
  service_host& host = run.serve();
  client_group c(host, 2);
  BOOST_REQUIRE(!host.connections().post(c.ids[0], [](connection&) { throw std::runtime_error("asked to"); }));
  run.note_rest("bad", c.clients[0]);
  check_reasons(run, host, {errc::handler_threw});
  c.clients[1].send("echo good\n");
  run.note("good", c.clients[1].receive_line());
}

QUINTET_SCENARIO(closed_from_outside) {
  service_host& host = run.serve();
  client_group c(host, 5);
  BOOST_REQUIRE(!host.connections().send(c.ids[2], "farewell\n"));
  BOOST_REQUIRE(!host.connections().close(c.ids[2]));
  run.note_rest("closed", c.clients[2]);
  c.clients[2].close();
  check_reasons(run, host, {{}});
  BOOST_TEST(host.connections().send(c.ids[2], "x") == error_code(errc::no_such_connection));
  c.clients[3].send("echo x\n");
  run.note("another", c.clients[3].receive_line());
}

QUINTET_SCENARIO(an_idle_connection) {
  service_host& host = run.serve();
  client_group c(host, 1);  // after a reply, so that a slow machine does not make it idle too early
  BOOST_REQUIRE(!host.connections().post(c.ids[0], [](connection& one) {
    connection_limits limits = one.limits();
    limits.idle_timeout = std::chrono::milliseconds(50);
    one.set_limits(limits);
  }));
  run.note_rest("client", c.clients[0]);
  check_reasons(run, host, {errc::idle_timeout});
}

QUINTET_SCENARIO(a_reply_above_max_output) {
  service_host& host =
      run.serve({.limits = {.max_output = 1'000'000, .high_watermark = 500'000, .low_watermark = 100'000}});
  client c = host.connect(), good = host.connect();
  c.send("size 1000001\n");
  run.note_rest("client", c);
  check_reasons(run, host, {errc::output_overflow});
  good.send("size 900000\n");
  run.note("good", good.receive_line());
}

QUINTET_SCENARIO(drained_while_idle) {
  service_host& host = run.serve();
  client_group c(host, 10);
  host.drain();
  for (client& one : c.clients) {
    run.note_rest("client", one);
    one.close();
  }
  host.join();
  check_reasons(run, host, std::vector<error_code>(10));
}

QUINTET_SCENARIO(drained_with_requests_under_way) {
  service_host& host = run.serve();
  client_group c(host, 2);
  c.clients[0].send("block\necho a\necho b\n");
  BOOST_REQUIRE(host.block().await_waiting(1));
  host.drain();
  host.block().open();
  for (client& one : c.clients) {
    run.note_rest("client", one);
    one.close();
  }
  host.join();
  check_reasons(run, host, std::vector<error_code>(2));
}

}  // namespace quintet::test
