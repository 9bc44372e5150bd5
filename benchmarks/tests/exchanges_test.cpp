// SPDX-License-Identifier: BSL-1.0
// exchanges_test.cpp: what an HTTP client accepts as the reply of a server that closes behind it.
#include "load/exchanges.hpp"

#include <boost/test/unit_test.hpp>

#include <initializer_list>

namespace quintet::bench {

static load_settings of_four_bytes() {
  load_settings s;
  s.work.message_bytes = 4;
  return s;
}

// Empty: it is right.
static std::string complaint(std::initializer_list<const char*> pieces) {
  const control c(of_four_bytes());
  http_exchange exchange(c, 0);
  for (int connection = 0; connection < 2; ++connection) {
    for (const auto* piece : pieces) {
      if (const char* wrong = exchange.take(piece)) return wrong;
      BOOST_TEST(!exchange.complete());  // before the server has closed
    }
    if (const char* wrong = exchange.take_end()) return wrong;
    exchange.next();
  }
  return "";
}

BOOST_AUTO_TEST_CASE(http_replies) {
  BOOST_TEST(complaint({"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd"}) == "");
  BOOST_TEST(complaint({"HTTP/1.1 2", "00 OK\r\nA: b\r\nContent-Length: 4\r\nB: c\r", "\n\r\nab", "cd"}) == "");
  BOOST_TEST(complaint({}) == "the server closed the connection");
  BOOST_TEST(complaint({"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nabcd"}) ==
             "a reply that is not HTTP/1.1 200");
  BOOST_TEST(complaint({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde"}) == "a reply of another length");
  BOOST_TEST(complaint({"HTTP/1.1 200 OK\r\n\r\nabcd"}) == "a reply of another length");
  BOOST_TEST(complaint({"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"}) == "a reply of another length");
  BOOST_TEST(complaint({"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc"}) ==
             "a body of another length than announced");
  BOOST_TEST(complaint({std::string(5000, 'x').c_str()}) == "the reply is too long");
}

}  // namespace quintet::bench
