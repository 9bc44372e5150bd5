// SPDX-License-Identifier: BSL-1.0
// listening_test: several listeners of all kinds at once, and an address that is used again at once, in all five
// models.
// ctest: LABELS slow
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/needs.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/system/system_error.hpp>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Sends the peer's address, then echoes.
struct mirror {
  void on_open(connection& c) const { c.write(c.peer_address() + "\n"); }
  void operator()(connection& c, bytes in) const { c.write(in); }
};
awaitable<> mirror_coroutine(stream& s) {
  s.write(s.peer_address() + "\n");
  while (const auto in = co_await s.read()) s.write(*in);
}

client connect(const address& to) { return client::over(testing::connected_to(to).release()); }

std::vector<listen_options> everywhere(const testing::scratch_directory& dir) {
  return {"127.0.0.1:0",
          "[::1]:0",
          {"[::]:0", {.dual_stack = true}},
          "unix:" + dir.file("socket"),
          "unix:@quintet-everywhere-" + std::to_string(::getpid()),
          {"unix:" + dir.file("priority"), {.priority = true}},
          {"127.0.0.1:0", {.priority = true}}};
}

template <class Handler>
void check_everywhere(model kind, Handler handler) {
  const testing::scratch_directory dir;
  running<server> srv(config{.listen = everywhere(dir), .model = kind, .threads = {.loops = 2}}, handler);
  const std::vector<std::string> peers{"127.0.0.1:", "[::1]:", "[::1]:", "unix:", "unix:", "unix:", "127.0.0.1:"};
  BOOST_REQUIRE(srv->addresses().size() == peers.size());
  std::vector<client> clients;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const address& at = srv->addresses()[i];
    clients.push_back(connect(at.host() == "::" ? address(join_address("::1", at.port())) : at));
    clients.back().send("to " + at.to_string() + "\n");
  }
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const std::string peer = clients[i].receive_line();
    BOOST_TEST(peer.starts_with(peers[i]));
    BOOST_TEST((peer == "unix:" || address(peer).to_string() == peer));
    BOOST_TEST(clients[i].receive_line() == "to " + srv->addresses()[i].to_string());
  }
  client mapped = connect(address(join_address("127.0.0.1", srv->addresses()[2].port())));
  BOOST_TEST(mapped.receive_line().starts_with("127.0.0.1:"));
  srv.stop();
  srv.join();
  for (const address& at : srv->addresses())
    BOOST_TEST(!testing::can_connect(at), at.to_string() << " is listened on after stop()");
  BOOST_TEST(std::filesystem::is_empty(std::filesystem::path(dir.file("")).parent_path()));
  BOOST_TEST(srv->statistics().accepted == 8u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(testing::needs_ipv6))
BOOST_DATA_TEST_CASE(seven_listeners_at_once, data::make(all_combinations), under) {
  if (under.is_coroutine())
    check_everywhere(under.kind, &mirror_coroutine);
  else
    check_everywhere(under.kind, mirror());
}

/// Each round leaves a connection that the server has closed first, so its port is in TIME_WAIT on the server's side.
void start_a_hundred_times(model kind, std::string at) {
  int served = 0;
  for (int i = 0; i < 100; ++i) {
    running<server> srv(config{.listen = {at}, .model = kind, .threads = {.loops = 1, .workers = {1, 1}}}, mirror());
    at = srv->addresses()[0].to_string();  // later rounds use this port
    client c = connect(srv->addresses()[0]);
    served += !c.receive_line().empty();
    srv.stop();
    srv.join();
    c.receive_rest();
    running<server> next(config{.listen = {at}, .model = kind, .threads = {.loops = 1, .workers = {1, 1}}}, mirror());
    served += !connect(next->addresses()[0]).receive_line().empty();  // the stopped server still exists
  }
  BOOST_TEST(served == 200);
}

BOOST_DATA_TEST_CASE(the_same_address_again_at_once, data::make(all_models), kind) {
  const testing::scratch_directory dir;
  start_a_hundred_times(kind, "127.0.0.1:0");
  start_a_hundred_times(kind, "unix:" + dir.file("socket"));
}

BOOST_DATA_TEST_CASE(a_unix_listener_decides_on_its_clients, data::make(all_models), kind) {
  std::atomic<int> asked{0}, refused{0};
  std::atomic<bool> lets_in{true};
  const auto may_connect = [&](const peer_credentials& peer) {
    asked += peer.process == ::getpid() && peer.user == ::geteuid();
    return lets_in.load();
  };
  accept_limits limits;
  limits.on_refused = [&](error_code why, const address&) {
    refused += why == system_error_code(EACCES);
    return std::string();
  };
  running<server> srv(
      config{.listen = {{fresh_unix_address(), {.may_connect = may_connect}}}, .model = kind, .accepting = limits},
      mirror());
  const address at = srv->addresses()[0];
  BOOST_TEST(!connect(at).receive_line().empty());
  lets_in = false;
  BOOST_TEST(connect(at).receive_rest().empty());
  BOOST_TEST(asked == 2);
  BOOST_TEST(eventually([&] { return refused == 1; }));
  BOOST_TEST(srv->statistics().refused == 1U);
}

BOOST_DATA_TEST_CASE(an_address_in_use_is_named_and_nothing_of_the_attempt_stays, data::make(all_models), kind) {
  const testing::scratch_directory dir;
  running<server> first(config{.listen = {"127.0.0.1:0", "unix:" + dir.file("taken")}, .model = kind}, mirror());
  for (const address& at : first->addresses()) {
    BOOST_CHECK_EXCEPTION(
        server(config{.listen = {"unix:" + dir.file("free"), at.to_string()}, .model = kind}, mirror()),
        boost::system::system_error, [&](const auto& e) {
          return e.code() == boost::system::errc::address_in_use &&
                 std::string(e.what()).find(at.to_string()) != std::string::npos;
        });
    BOOST_TEST(!std::filesystem::exists(dir.file("free")));
    client c = connect(at);
    BOOST_TEST(!c.receive_line().empty());
  }
}

}  // namespace
}  // namespace quintet::test
