// SPDX-License-Identifier: BSL-1.0
// busy_poll_test: accepted connections have SO_BUSY_POLL; a listener without permission works without it.
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/server/listener.hpp>

#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

using namespace quintet;
using namespace std::chrono_literals;

namespace {

/// SO_BUSY_POLL of a connection accepted after set_busy_poll(), and the log.
struct outcome {
  int microseconds = -1;
  std::vector<std::string> log;
};

int busy_poll_of(int handle) {
  int value = -1;
  socklen_t size = sizeof value;
  (void)::getsockopt(handle, SOL_SOCKET, SO_BUSY_POLL, &value, &size);
  return value;
}

outcome accept_one(const char* at, std::chrono::microseconds longest) {
  outcome o;
  const log_hook hook = [&](const log_event& e) { o.log.push_back(to_string(e)); };
  event_loop loop;
  listener l(
      loop, at,
      [&](int handle) {
        o.microseconds = busy_poll_of(handle);
        loop.io().close(handle);
        loop.stop();
      },
      hook);
  l.set_busy_poll(longest);
  l.start();
  error_code ec;
  const int client = loop.io().sockets().connect(l.at(), ec);
  BOOST_REQUIRE_MESSAGE(client >= 0, ec.message());
  loop.run();
  loop.io().close(client);
  return o;
}

/// Returns false if the kernel is built without SO_BUSY_POLL, or in a container of an older kernel.
bool permitted() {
  const file_descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int some = 1;
  return ::setsockopt(fd.get(), SOL_SOCKET, SO_BUSY_POLL, &some, sizeof some) == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(connections_have_it) {
  if (!permitted()) return;  // not permitted on this machine
  const outcome o = accept_one("127.0.0.1:0", 37us);
  BOOST_TEST(o.microseconds == 37);
  BOOST_TEST(o.log.empty());
}

BOOST_AUTO_TEST_CASE(a_refusal_is_one_line_and_nothing_else) {
  // Every kernel refuses a negative value. Only some refuse positive ones without CAP_NET_ADMIN.
  const outcome o = accept_one("127.0.0.1:0", -1us);
  BOOST_TEST(o.microseconds == 0);
  BOOST_REQUIRE(o.log.size() == 1u);
  BOOST_TEST(o.log[0].find("cannot enable busy polling") != std::string::npos, o.log[0]);
  BOOST_TEST(o.log[0].find("127.0.0.1:") == 0u, o.log[0]);
}

BOOST_AUTO_TEST_CASE(zero_and_unix_sockets_ask_for_nothing) {
  BOOST_TEST(accept_one("127.0.0.1:0", 0us).log.empty());
  BOOST_TEST(accept_one("unix:@quintet-busy-poll-test", -1us).log.empty());
}
