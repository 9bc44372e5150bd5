// SPDX-License-Identifier: BSL-1.0
// dialect_test.cpp: which replies are whole, and that an unfinished request stays unfinished.
#include "stress/dialect.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace quintet::bench {
BOOST_AUTO_TEST_CASE(which_replies_are_whole) {
  const auto judge = [](const char* protocol, unsigned number, const std::string& reply) {
    const dialect& d = *parse_dialect(protocol);
    return d.judge(reply, d.request(number));
  };
  const dialect& echo = *parse_dialect("echo");
  BOOST_TEST((judge("echo", 7, echo.request(7)) == reply_state::complete));
  BOOST_TEST((judge("echo", 7, echo.request(7).substr(0, 9)) == reply_state::incomplete));
  BOOST_TEST((judge("echo", 7, echo.request(8)) == reply_state::wrong));
  BOOST_TEST((judge("resp", 0, "+PONG\r\n") == reply_state::complete));
  BOOST_TEST((judge("resp", 0, "-ERR no\r\n") == reply_state::wrong));
  BOOST_TEST((judge("resp", 1, "$9\r\nrequest 1\r\n") == reply_state::complete));
  BOOST_TEST((judge("resp", 1, "$9\r\nrequest 2\r\n") == reply_state::wrong));
  const std::string ok = "HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n";
  BOOST_TEST((judge("http", 0, ok + "\r\nab") == reply_state::complete));
  BOOST_TEST((judge("http", 0, ok + "\r\na") == reply_state::incomplete));
  BOOST_TEST((judge("http", 0, ok + "\r\nabc") == reply_state::wrong));
  BOOST_TEST((judge("http", 0, ok + "Connection: close\r\n\r\nab") == reply_state::last));
  BOOST_TEST((judge("http", 0, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n") ==
              reply_state::complete));
  BOOST_TEST((judge("http", 0, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n") == reply_state::wrong));
  BOOST_TEST((judge("http", 0, "SSH-2.0") == reply_state::wrong));
}

BOOST_AUTO_TEST_CASE(an_unfinished_request_stays_unfinished) {
  for (unsigned number = 0; number <= 100'000; number = number * 3 + 1) {
    const std::string line = parse_dialect("echo")->unfinished_request(number);
    BOOST_TEST(line.find('\n') == line.npos, line);
    // Some servers take a line feed alone for the end of a line.
    const std::string header = parse_dialect("http")->unfinished_request(number);
    BOOST_TEST(header.starts_with("GET /"));
    BOOST_TEST(header.find("\n\n") == header.npos, header);
    BOOST_TEST(header.find("\n\r\n") == header.npos, header);
    BOOST_TEST(!header.ends_with('\n'), header);
    const std::string command = parse_dialect("resp")->unfinished_request(number);
    BOOST_TEST(command == "*2\r\n$4\r\nECHO\r\n$" + std::to_string(unfinished_bytes + 1) + "\r\n");
  }
}

}  // namespace quintet::bench
