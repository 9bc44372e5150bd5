// SPDX-License-Identifier: BSL-1.0
// listener_test: accepting continues without descriptors and after exceptions; errors name the address in use.
// ctest: EACH_ENGINE
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/server/listener.hpp>

#include "sockets.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;

BOOST_AUTO_TEST_CASE(out_of_descriptors_it_pauses_and_serves_the_waiting_one_later) {
  manual_clock clock;
  event_loop loop(make_default_engine(), clock);
  std::vector<int> accepted;
  listener l(loop, "127.0.0.1:0", [&](int fd) { accepted.push_back(fd); });
  l.start();
  const file_descriptor client = socket_for(l.at());
  loop.poll();  // the engine has opened its descriptors afterwards
  {
    const no_descriptors none;
    BOOST_REQUIRE(connect(client, l.at()));  // the kernel completes the connection, which waits in the backlog
    while (l.errors() == 0) loop.poll();
    for (int i = 0; i < 1000; ++i) loop.poll();
    BOOST_TEST(l.errors() == 1u);  // it pauses, and does not try in each turn
  }
  BOOST_TEST(accepted.empty());
  clock.advance(std::chrono::milliseconds(51));
  while (accepted.empty()) loop.poll();
  BOOST_TEST(l.accepted() == 1u);
  for (const int fd : accepted) ::close(fd);
}

BOOST_AUTO_TEST_CASE(a_function_that_throws_costs_its_own_connection_only) {
  event_loop loop;
  std::vector<int> accepted;
  listener l(loop, "127.0.0.1:0", [&](int fd) {
    if (accepted.empty() && l.errors() == 0) throw std::runtime_error("not this one");
    accepted.push_back(fd);
  });
  l.start();
  const file_descriptor first = connected_to(l.at()), second = connected_to(l.at());
  while (accepted.empty()) loop.poll();
  char c = 0;
  BOOST_TEST(::recv(first.get(), &c, 1, 0) == 0);  // closed, not leaked
  BOOST_TEST(l.errors() == 1u);
  BOOST_TEST(l.accepted() == 2u);
  ::close(accepted.front());
}

BOOST_AUTO_TEST_CASE(a_port_in_use_is_said_with_its_address) {
  event_loop loop;
  const auto ignore = [](int fd) { ::close(fd); };
  const listener l(loop, "127.0.0.1:0", ignore);
  BOOST_CHECK_EXCEPTION(listener(loop, l.at().to_string(), ignore), boost::system::system_error, [&](const auto& e) {
    return e.code() == boost::system::errc::address_in_use &&
           std::string(e.what()).find(l.at().to_string()) != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(connections_that_wait_are_accepted_before_it_closes_unless_it_is_held) {
  for (const bool held : {false, true}) {
    event_loop loop;
    std::vector<file_descriptor> accepted;
    listener l(loop, "127.0.0.1:0", [&](int fd) { accepted.emplace_back(fd); });
    l.start();
    loop.poll();
    l.hold(held);
    std::vector<file_descriptor> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(connected_to(l.at()));
    l.accept_waiting_and_close();
    BOOST_TEST(accepted.size() == (held ? 0U : 20U));
    loop.poll();  // io_uring closes the socket in the next turn
    loop.poll();
    BOOST_TEST(!can_connect(l.at()));
  }
}

BOOST_AUTO_TEST_CASE(a_handler_that_frees_descriptors_is_heard_while_it_closes) {
  event_loop loop;
  std::vector<file_descriptor> accepted, spare;
  accepted.reserve(2);
  listener l(loop, "127.0.0.1:0", [&](int fd) { accepted.emplace_back(fd); });
  l.set_error_handler([&](error_code) {
    if (spare.empty()) return false;
    spare.pop_back();
    return true;
  });
  l.start();
  loop.poll();
  const file_descriptor clients[] = {socket_for(l.at()), socket_for(l.at())};
  for (int i = 0; i < 2; ++i) spare.push_back(socket_for(l.at()));
  const no_descriptors none;
  for (const file_descriptor& client : clients) BOOST_REQUIRE(connect(client, l.at()));
  l.accept_waiting_and_close();
  BOOST_TEST(accepted.size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_listener_that_is_held_while_it_closes_accepts_no_more) {
  event_loop loop;
  std::vector<file_descriptor> accepted;
  listener* held = nullptr;
  listener l(loop, "127.0.0.1:0", [&](int fd) {
    accepted.emplace_back(fd);
    if (accepted.size() == 5) held->hold(true);
  });
  held = &l;
  l.start();
  loop.poll();
  std::vector<file_descriptor> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(connected_to(l.at()));
  l.accept_waiting_and_close();
  BOOST_TEST(accepted.size() == 5U);
}

BOOST_AUTO_TEST_CASE(clients_that_connect_as_fast_as_it_accepts_do_not_keep_it_from_closing) {
  event_loop loop;
  std::vector<file_descriptor> accepted, clients;
  listener* closing = nullptr;
  const auto accept_and_connect = [&](int fd) {
    accepted.emplace_back(fd);
    clients.push_back(connected_to(closing->at()));
  };
  listener l(loop, {"127.0.0.1:0", {.backlog = 400}}, accept_and_connect);
  closing = &l;
  l.start();
  loop.poll();
  l.hold(true);
  for (int i = 0; i < 30; ++i) clients.push_back(connected_to(l.at()));
  l.hold(false);
  l.accept_waiting_and_close();
  BOOST_TEST(accepted.size() >= 30U);
  BOOST_TEST(accepted.size() < 100U);
}

BOOST_AUTO_TEST_CASE(a_backlog_that_the_system_cuts_is_told) {
  std::vector<std::string> told;
  const log_hook log = [&](const log_event& e) { told.emplace_back(e.what); };
  event_loop loop;
  const listener modest(loop, "127.0.0.1:0", [](int) {}, log);
  BOOST_TEST(told.empty());
  const listener greedy(loop, {"127.0.0.1:0", {.backlog = 2'000'000'000}}, [](int) {}, log);
  BOOST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told.front() == "the backlog is cut to " + std::to_string(loop.io().sockets().largest_backlog()) +
                                 " (net.core.somaxconn)");
}
