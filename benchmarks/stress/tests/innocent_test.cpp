// SPDX-License-Identifier: BSL-1.0
// innocent_test.cpp: a reply that the server has cut off is no answer.
#include "stress/innocent.hpp"

#include "loopback_listener.hpp"
#include "stress/dialect.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace quintet::bench {
namespace {

using namespace std::chrono_literals;

/// Returns the complaint of the innocent client about a server that sends `reply` and closes the connection.
/// Empty: none.
std::string complaint(const std::string& reply) {
  const loopback_listener listener;
  const std::jthread server([&] {
    const unique_fd client(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    std::array<char, 4096> request;
    (void)::recv(client.get(), request.data(), request.size(), 0);
    (void)::send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  });
  attack_settings s;
  s.target = require_target(listener.at(), false);
  s.speaks = parse_dialect("http");
  s.bound = 10s;  // nothing here waits for it
  const std::atomic<bool> never{false};
  return innocent_connection(s).ask(0, never);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_reply_that_is_cut_off_is_no_answer) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  BOOST_TEST(complaint("") == "the server closed the connection without a reply");
  BOOST_TEST(complaint(ok + "Content-Len") == "the server closed the connection after 28 bytes of its reply");
  BOOST_TEST(complaint(ok + "Content-Length: 5\r\n\r\nabcd") ==
             "the server closed the connection after 42 bytes of its reply");
  BOOST_TEST(complaint(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n") ==
             "the server closed the connection after 57 bytes of its reply");
}

BOOST_AUTO_TEST_CASE(a_whole_reply_before_the_end_of_the_connection_is_an_answer) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  BOOST_TEST(complaint(ok + "\r\nuntil the end") == "");
  BOOST_TEST(complaint(ok + "Content-Length: 5\r\n\r\nabcde") == "");
  BOOST_TEST(complaint(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n") == "");
}

}  // namespace quintet::bench
