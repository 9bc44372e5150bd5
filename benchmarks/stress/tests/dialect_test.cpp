// SPDX-License-Identifier: BSL-1.0
// dialect_test.cpp: which replies are whole, and that an unfinished request stays unfinished.
#include "stress/dialect.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

namespace quintet::bench {
namespace {

const std::string ok = "HTTP/1.1 200 OK\r\n";

reply_state check_http(const std::string& reply) {
  const dialect& http = *parse_dialect("http");
  return http.check_reply(reply, http.request(0));
}

}  // namespace

BOOST_AUTO_TEST_CASE(which_replies_are_whole) {
  const auto check_reply = [](const char* protocol, unsigned number, const std::string& reply) {
    const dialect& d = *parse_dialect(protocol);
    return d.check_reply(reply, d.request(number));
  };
  const dialect& echo = *parse_dialect("echo");
  BOOST_TEST((check_reply("echo", 7, echo.request(7)) == reply_state::complete));
  BOOST_TEST((check_reply("echo", 7, echo.request(7).substr(0, 9)) == reply_state::incomplete));
  BOOST_TEST((check_reply("echo", 7, echo.request(8)) == reply_state::wrong));
  BOOST_TEST((check_reply("resp", 0, "+PONG\r\n") == reply_state::complete));
  BOOST_TEST((check_reply("resp", 0, "-ERR no\r\n") == reply_state::wrong));
  BOOST_TEST((check_reply("resp", 1, "$9\r\nrequest 1\r\n") == reply_state::complete));
  BOOST_TEST((check_reply("resp", 1, "$9\r\nrequest 2\r\n") == reply_state::wrong));
  const std::string ok = "HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n";
  BOOST_TEST((check_reply("http", 0, ok + "\r\nab") == reply_state::complete));
  BOOST_TEST((check_reply("http", 0, ok + "\r\na") == reply_state::incomplete));
  BOOST_TEST((check_reply("http", 0, ok + "\r\nabc") == reply_state::wrong));
  BOOST_TEST((check_reply("http", 0, ok + "Connection: close\r\n\r\nab") == reply_state::last));
  BOOST_TEST((check_reply("http", 0, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n") ==
              reply_state::complete));
  BOOST_TEST((check_reply("http", 0, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n") == reply_state::wrong));
  BOOST_TEST((check_reply("http", 0, "SSH-2.0") == reply_state::wrong));
}

BOOST_AUTO_TEST_CASE(an_http_reply_without_a_length_lasts_until_the_end_of_the_connection) {
  BOOST_TEST((check_http(ok + "\r\n") == reply_state::until_end));
  BOOST_TEST((check_http(ok + "\r\nab") == reply_state::until_end));
  BOOST_TEST((check_http("HTTP/1.1 204 No Content\r\n\r\n") == reply_state::complete));
  BOOST_TEST((check_http("HTTP/1.1 103 Early Hints\r\n\r\n") == reply_state::incomplete));
  BOOST_TEST((check_http("HTTP/1.1 103 Early Hints\r\n\r\n" + ok + "\r\n") == reply_state::until_end));
}

BOOST_AUTO_TEST_CASE(a_chunked_reply_ends_with_its_last_chunk_only) {
  const std::string header = ok + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string looks_ended = "C\r\nab\r\n0\r\n\r\n";  // within the data of a chunk of 12 bytes
  BOOST_TEST((check_http(header + looks_ended) == reply_state::incomplete));
  BOOST_TEST((check_http(header + looks_ended + "xyz\r\n0\r\n\r\n") == reply_state::complete));
  const std::string whole = header + "1;name=value\r\na\r\n0\r\nX-Sum: 7\r\n\r\n";
  for (std::size_t size = 0; size < whole.size(); ++size)
    BOOST_TEST((check_http(whole.substr(0, size)) == reply_state::incomplete), whole.substr(0, size));
  BOOST_TEST((check_http(whole) == reply_state::complete));
  BOOST_TEST((check_http(whole + "x") == reply_state::wrong));
  BOOST_TEST((check_http(header + "1\r\nab") == reply_state::incomplete));
  BOOST_TEST((check_http(header + "1\r\nabc") == reply_state::wrong));
  BOOST_TEST((check_http(header + "size\r\n") == reply_state::wrong));
  BOOST_TEST((check_http(header + "ffffffffffffffff\r\nab") == reply_state::incomplete));
}

BOOST_AUTO_TEST_CASE(a_length_is_a_number) {
  BOOST_TEST((check_http(ok + "Content-Length: two\r\n\r\n") == reply_state::wrong));
  BOOST_TEST((check_http(ok + "Content-Length: 2 \r\n\r\nab") == reply_state::complete));
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
