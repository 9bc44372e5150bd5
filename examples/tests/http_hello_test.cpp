// SPDX-License-Identifier: BSL-1.0
// http_hello_test: requests give the same result however they are split, have limits in every part, and allocate
// nothing.
#include "costs.hpp"

#include "http_hello/session.hpp"

#include <array>
#include <string>

namespace {

using http_hello::bytes;
using http_hello::limits;
using http_hello::request_reader;
using progress = request_reader::progress;

struct reading {
  progress outcome = progress::incomplete;
  std::size_t used = 0;  // bytes of the input
  bool keep = false;
  int status = 0;  // of a refused request
};

// Offers each piece behind the unused rest of earlier ones, as a connection does.
struct client {
  explicit client(const limits& l = {}) : reader(l) {}

  progress send(bytes piece) {
    left += piece;
    std::size_t now = 0;
    const progress outcome = reader.read(left, now);
    left.erase(0, now);
    used += now;
    return outcome;
  }

  request_reader reader;
  std::string left;
  std::size_t used = 0;
};

reading read_in_pieces(bytes in, std::size_t size, const limits& l = {}) {
  client c(l);
  reading out;
  for (; out.outcome == progress::incomplete && !in.empty(); in.remove_prefix(std::min(size, in.size())))
    out.outcome = c.send(in.substr(0, size));
  out.used = c.used;
  if (out.outcome == progress::whole) out.keep = c.reader.keep_alive();
  if (out.outcome == progress::refused) out.status = c.reader.status();
  return out;
}

constexpr std::array<std::size_t, 5> piece_sizes{1, 2, 3, 7, 1'000'000};

void check_whole(bytes request, bool keep) {
  for (const std::size_t size : piece_sizes) {
    BOOST_TEST_CONTEXT("'" << request << "' in pieces of " << size) {
      const reading got = read_in_pieces(std::string(request) + "GET / HTTP/1.1\r\n", size);
      BOOST_TEST((got.outcome == progress::whole));
      BOOST_TEST(got.used == request.size());  // the rest belongs to the next request
      BOOST_TEST(got.keep == keep);
    }
  }
}

void check_refused(bytes request, int status, const limits& l = {}) {
  for (const std::size_t size : piece_sizes) {
    BOOST_TEST_CONTEXT("'" << request.substr(0, 100) << "' in pieces of " << size) {
      const reading got = read_in_pieces(request, size, l);
      BOOST_TEST((got.outcome == progress::refused));
      BOOST_TEST(got.status == status);
    }
  }
}

BOOST_AUTO_TEST_CASE(requests) {
  check_whole("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true);
  check_whole("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false);
  check_whole("GET / HTTP/1.0\r\n\r\n", false);
  check_whole("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true);
  check_whole("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n" + std::string(20000, 'x'), true);
  // Empty lines before a request are ignored; later versions of HTTP/1 are served as 1.1; the forms of a Host.
  check_whole("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", true);
  check_whole("GET / HTTP/1.2\r\nHost: a\r\n\r\n", true);
  check_whole("GET / HTTP/1.9\r\nHost: a\r\nConnection: close\r\n\r\n", false);
  for (const char* host : {"", "a:", "a.b:80", "[::1]", "[::1]:80", "[fe80::1%25eth0]:1", "%41_b"})
    check_whole("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n", true);
  // A transfer coding in HTTP/1.0 ends the connection.
  check_whole("POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false);
  check_whole("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", true);
  check_whole("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true);
  check_whole("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true);
}

BOOST_AUTO_TEST_CASE(mistakes) {
  check_refused("\x16\x03\x01\x02\r\n\r\n", 400);  // TLS
  check_refused("GET  / HTTP/1.1\r\n\r\n", 400);
  check_refused("GET / HTTP/1.1\r\n\r\n", 400);  // no Host
  check_refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400);
  check_refused("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400);
  check_refused("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505);
  check_refused("PRI * HTTP/2.0\r\n\r\n", 505);
  check_refused("GET / HTTP/0.9\r\n\r\n", 505);
  for (const char* line : {"GET / FOO", "GET /", "GET / HTTP/2", "GET / HTTP/1.10", "GET / HTTP/12", "GET / http/1.1",
                           "GET / HTTP/1.1 ", "GET / HTTP/1.5 HTTP/1.1", "\n"})
    check_refused(std::string(line) + "\r\nHost: a\r\n\r\n", 400);
  check_refused("GET / HTTP/1.1\nHost: a\n\n", 400);
  for (const char* host : {"a b", "a:b", "a/b", "a,b c", "[::1", "[::1]a", "a@b", "a:1:2"})
    check_refused("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n", 400);
  // The end of a body must be unambiguous.
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"\r\nhello\r\n0\r\n\r\n", 400);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0;a=\"\r\n\r\n", 400);
  for (const char* const short_line :
       {"zz\r\n", "x", "5\n", "-1\r\n", "5\r\nhello\r\nz\r\n", "5\r\nhello\r\nz", "0x5\r\n", "5\rX", "0\r\r\n"})
    check_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(short_line), 400);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400);
}

BOOST_AUTO_TEST_CASE(every_part_has_a_limit) {
  const limits small{.header = 100, .body = 10};
  check_refused("GET /" + std::string(100, 'x'), 414, small);
  check_refused("GET /" + std::string(100, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414, small);
  check_refused("GET / HTTP/1.1\r\nX: " + std::string(100, 'x'), 431, small);
  std::string empty_lines;
  for (int i = 0; i < 60; ++i) empty_lines += "\r\n";
  check_refused(empty_lines, 431, small);
  for (const char* end : {"", "\r\n\r\n"})  // a trailer
    check_refused(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(100, 'x') + end, 431,
        small);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", 413, small);
  check_refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello!\r\n5\r\nhello\r\n", 413,
                small);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 20; ++i) many += "X: y\r\n";
  check_refused(many, 431, small);
  // The limit also holds if the reader uses each piece before the next one arrives.
  client c(small);
  BOOST_TEST((c.send("GET / HTTP/1.1\r\nX") == progress::incomplete));
  int lines = 0;
  while (c.send(": y\r\nX") == progress::incomplete) BOOST_REQUIRE_LT(++lines, 20);
  BOOST_TEST(c.reader.status() == 431);
}

BOOST_AUTO_TEST_CASE(a_header_of_just_the_limit_is_read) {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const std::size_t size : piece_sizes) {
    BOOST_TEST((read_in_pieces(request, size, {.header = request.size()}).outcome == progress::whole));
    BOOST_TEST(read_in_pieces(request, size, {.header = request.size() - 1}).status == 431);
  }
}

BOOST_AUTO_TEST_CASE(who_waits_for_it_is_told_to_go_on_once) {
  client c;
  BOOST_TEST((c.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n") == progress::incomplete));
  BOOST_TEST(!c.reader.take_continue());
  BOOST_TEST((c.send("Content-Length: 2\r\n\r\n") == progress::incomplete));
  BOOST_TEST(c.reader.take_continue());
  BOOST_TEST((c.send("h") == progress::incomplete));
  BOOST_TEST(!c.reader.take_continue());
  BOOST_TEST((c.send("i") == progress::whole));
}

BOOST_AUTO_TEST_CASE(answering_does_not_allocate) {
  const http_hello::replies replies([]() -> std::time_t { return 784111777; });
  const std::string request =
      "GET /index.html HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: test\r\nAccept: */*\r\nX-More: 1\r\n\r\n";
  const std::string reply =
      "HTTP/1.1 200 OK\r\nServer: quintet\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: "
      "text/plain\r\nContent-Length: 64\r\n\r\n"
      "Hello from Quintet: one handler, five threading models, no lock\n";
  const std::array exchanges{costs::exchange{request, reply}};
  costs::check_no_allocation(http_hello::session(replies, {}), exchanges);
}

}  // namespace
