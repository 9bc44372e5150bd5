// SPDX-License-Identifier: BSL-1.0
// resp_test: whole and malformed requests give the same result however they are split on arrival.
#include "kv/resp.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace {

using kv::bytes;
using kv::outcome;
using list = std::vector<std::string>;

constexpr kv::limits small{.arguments = 4, .bulk = 10, .request = 24};

// Feeds a parser as a connection does: offers the unused rest again, followed by more. Records requests as
// "[name argument ...]", and at the end "!error", or "..." for an incomplete rest.
class feeder {
 public:
  explicit feeder(const kv::limits& l) : parser_(l) {}
  void feed(bytes more) {
    pending_ += more;
    while (!failed_) {
      const outcome o = parser_.parse(pending_);
      if (o == outcome::incomplete) return;
      failed_ = o == outcome::malformed;
      seen_.push_back(failed_ ? "!" + parser_.error() : shown());
      if (!failed_) pending_.erase(0, parser_.used());
    }
  }
  list result() {
    if (!failed_ && !pending_.empty()) seen_.emplace_back("...");
    return seen_;
  }

 private:
  std::string shown() const {
    std::string text = "[";
    for (const bytes argument : parser_.arguments()) text.append(text.size() > 1 ? "|" : "").append(argument);
    return text + "]";
  }
  kv::request_parser parser_;
  std::string pending_;
  list seen_;
  bool failed_ = false;
};

list whole(bytes input, const kv::limits& l = small) {
  feeder f(l);
  f.feed(input);
  return f.result();
}

// Checks that the result is the same in one piece, in any two pieces, and byte by byte.
void check(bytes input, const list& expected, const kv::limits& l = small) {
  BOOST_TEST_CONTEXT("input: " << input) {
    BOOST_TEST(whole(input, l) == expected, boost::test_tools::per_element());
    for (std::size_t cut = 1; cut < input.size(); ++cut) {
      feeder f(l);
      f.feed(input.substr(0, cut));
      f.feed(input.substr(cut));
      BOOST_TEST_CONTEXT("cut at " << cut) { BOOST_TEST(f.result() == expected, boost::test_tools::per_element()); }
    }
    feeder f(l);
    for (const char c : input) f.feed({&c, 1});
    BOOST_TEST(f.result() == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(arrays) {
  check("*1\r\n$4\r\nPING\r\n", {"[PING]"});
  check("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", {"[ECHO|]"});
  check("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\r\n\r\n\r\n", {"[SET|k|\r\n\r\n]"});
  check("*0\r\n*-1\r\n*1\r\n$1\r\na\r\n", {"[]", "[]", "[a]"});
  check(bytes("*1\r\n$3\r\n\0\1\2\r\n", 13), {std::string("[\0\1\2]", 5)});
}

BOOST_AUTO_TEST_CASE(inline_commands) {
  check("PING\r\n", {"[PING]"});
  check("PING\n", {"[PING]"});
  check("  set  k\t v \r\n", {"[set|k|v]"});
  check("\r\n\nPING\r\n", {"[]", "[]", "[PING]"});
  check("set \"a b\" 'c d'\r\n", {"[set|a b|c d]"});
  check("echo \"\"\r\n", {"[echo|]"});
}

BOOST_AUTO_TEST_CASE(quotes) {
  check("set k a\"b\"\r\n", {"[set|k|ab]"});
  check("set k a'b c'\r\n", {"[set|k|ab c]"});
  check("x \"\" 'b' c\r\n", {"[x||b|c]"});
  check(R"(echo "\"\\\x41\x4\n\t\q")"
        "\r\n",
        {"[echo|\"\\Ax4\n\tq]"});
  check(R"(echo 'it\'s \n')"
        "\r\n",
        {R"([echo|it's \n])"});
  check("echo \"a\\\"\r\n", {"!Protocol error: unbalanced quotes in request"});
  check("echo a\"b\"c\r\n", {"!Protocol error: unbalanced quotes in request"});
}

BOOST_AUTO_TEST_CASE(requests_of_http_are_recognised) {
  using words = std::vector<bytes>;
  for (const words& text :
       {words{"POST", "/", "HTTP/1.1"}, words{"post"}, words{"Host:", "a"}, words{"host:"},
        words{"GET", "/", "HTTP/1.1"}, words{"PUT", "/a", "b", "HTTP/1.0"}, words{"PRI", "*", "HTTP/2.0"}})
    BOOST_TEST(kv::speaks_http(text));
  for (const words& text :
       {words{"HTTP/1.1"}, words{"GET", "HTTP/1.1"}, words{"FOO", "HTTP/1.1", "b"}, words{"Hosts:"}})
    BOOST_TEST(!kv::speaks_http(text));
}

BOOST_AUTO_TEST_CASE(pipelines) {
  check("*1\r\n$4\r\nPING\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n\r\nquit\n",
        {"[PING]", "[PING]", "[GET|k]", "[]", "[quit]"});
}

BOOST_AUTO_TEST_CASE(incomplete) {
  const bytes request = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
  for (std::size_t size = 1; size < request.size(); ++size) check(request.substr(0, size), {"..."});
  check("PIN", {"..."});
}

BOOST_AUTO_TEST_CASE(malformed) {
  const std::string count = "!Protocol error: invalid multibulk length", size = "!Protocol error: invalid bulk length";
  for (const char* text : {"*a\r\n", "*\r\n", "*1 \r\n", "*+1\r\n", "*01\r\n", "*1\rx", "*999999999999999999\r\n",
                           "*9999999999999999999\r\n", "*99999999999999999999\r\n", "*5\r\n"})
    check(text, {count});
  for (const char* text : {"*1\r\n$a\r\n", "*1\r\n$\r\n", "*1\r\n$-1\r\n", "*1\r\n$+1\r\n", "*1\r\n$-0\r\n",
                           "*1\r\n$00\r\n", "*1\r\n$1\rx", "*1\r\n$1\nx\r\n", "*1\r\n$9999999999999999999\r\n",
                           "*1\r\n$99999999999999999999\r\n", "*1\r\n$11\r\n"})
    check(text, {size});
  check("*1\r\nPING\r\n", {"!Protocol error: expected '$', got 'P'"});
  check("*1\r\n\r\n", {"!Protocol error: expected '$', got ' '"});
  check("*1\r\n$2\r\nabc\r\n", {"!Protocol error: expected CRLF after a bulk string of 2 bytes"});
  check("*1\r\n$5\r\nabc\r\n*1\r\n", {"!Protocol error: expected CRLF after a bulk string of 5 bytes"});
  check("set \"a b\r\n", {"!Protocol error: unbalanced quotes in request"});
  check("set 'a'b\r\n", {"!Protocol error: unbalanced quotes in request"});
  check("PING\r\n*x\r\nPING\r\n", {"[PING]", count});
}

BOOST_AUTO_TEST_CASE(sizes_are_refused_when_they_are_announced) {
  check("*1\r\n$10\r\n0123456789\r\n", {"[0123456789]"});
  check("*1\r\n$11\r\n", {"!Protocol error: invalid bulk length"});
  check("*4\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n", {"[a|a|a|a]"});
  check("*5\r\n", {"!Protocol error: invalid multibulk length"});
  check("a a a a\r\n", {"[a|a|a|a]"});
  check("a a a a a\r\n", {"!Protocol error: too many arguments in inline request"});
  check("*3\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n$5\r\n", {"!Protocol error: too big request"});
}

BOOST_AUTO_TEST_CASE(lines_are_bounded) {
  const std::size_t most = kv::limits::line;
  const std::string longest(most - 1, 'x');
  BOOST_TEST(whole(longest) == list{"..."}, boost::test_tools::per_element());
  BOOST_TEST(whole(longest + "\n") == list{"[" + longest + "]"}, boost::test_tools::per_element());
  for (const bytes rest : {"", "\n", "xx\n"}) {
    const list inline_error{"!Protocol error: too big inline request"};
    BOOST_TEST(whole(longest + "x" + std::string(rest)) == inline_error, boost::test_tools::per_element());
    const list count_error{"!Protocol error: too big mbulk count string"};
    BOOST_TEST(whole("*" + longest + std::string(rest)) == count_error, boost::test_tools::per_element());
    const list bulk_error{"!Protocol error: too big bulk count string"};
    BOOST_TEST(whole("*1\r\n$" + longest + std::string(rest)) == bulk_error, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(integers) {
  BOOST_CHECK(kv::to_integer("0") == 0);
  BOOST_CHECK(kv::to_integer("-12") == -12);
  BOOST_CHECK(kv::to_integer("9223372036854775807") == INT64_MAX);
  BOOST_CHECK(kv::to_integer("-9223372036854775808") == INT64_MIN);
  for (const char* text : {"", "-", "+1", "01", "-0", "-01", "1 ", " 1", "1a", "9223372036854775808"})
    BOOST_TEST_CONTEXT(text) { BOOST_CHECK(!kv::to_integer(text)); }
}

}  // namespace
