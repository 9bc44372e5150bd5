// SPDX-License-Identifier: BSL-1.0
// delimiter: delimiters of any length, including self-overlapping ones; no byte is searched twice.
#include <quintet/base/framing/delimiter.hpp>

#include "support.hpp"

#include <string>
#include <vector>

using namespace quintet;
using namespace quintet::testing;

BOOST_AUTO_TEST_SUITE(delimiters)

BOOST_AUTO_TEST_CASE(messages_come_out_however_they_are_cut) {
  check_round_trip(delimiter("\n"), {"", "one", "", std::string(300, 'x'), "\r"});
  check_round_trip(delimiter("\r\n"), {"", "one", "\r", "\n", "a\rb\nc", "\r"});
  check_round_trip(delimiter(std::string("\0\0\0", 3)), {"one", "", "two"});
  check_round_trip(delimiter("a text of more than seven bytes"), {"one", "a text", "", "a text of more than"});
}

BOOST_AUTO_TEST_CASE(one_that_overlaps_itself_is_found_where_it_first_ends) {
  const std::string text = "\r\r\n";
  check_every_cut(delimiter(text), "\r\r\r\n", {"\r"});
  check_every_cut(delimiter(text), "\r\r\n\r\r\r\r\n\r\n\r\r\n", {"", "\r\r", "\r\n"});
  check_every_cut(delimiter("abab"), "ababababxabab", {"", "", "x"});
  check_every_cut(delimiter("aab"), "aaaab", {"aa"});
}

BOOST_AUTO_TEST_CASE(a_message_is_as_long_as_the_limit_and_no_longer) {
  const delimiter wire("\r\n", 10);
  const std::string just(10, 'm'), over(11, 'm');
  check_every_cut(wire, just + "\r\n", {just});
  BOOST_TEST(refusal(wire, over) == errc::message_too_big);
  BOOST_TEST(parse_once(wire, over + "\r\n").error == errc::message_too_big);
  BOOST_TEST(parse_once(wire, just + "\r").is == frame::state::incomplete);
  BOOST_TEST(parse_once(wire, just + "xx").error == errc::message_too_big);  // no delimiter can follow in time
  BOOST_TEST(parse_once(wire, std::string(100'000, 'x')).error == errc::message_too_big);
  check_every_cut(delimiter("\n", 0), "\n\n", {"", ""});
}

BOOST_AUTO_TEST_CASE(an_unlimited_one_does_not_overflow) {
  check_every_cut(delimiter("\n", std::numeric_limits<std::size_t>::max()), "one\n", {"one"});
}

BOOST_AUTO_TEST_CASE(an_empty_one_cannot_be) { BOOST_CHECK_THROW(delimiter(""), config_error); }

BOOST_AUTO_TEST_CASE(what_would_not_arrive_as_one_message_is_refused) {
  BOOST_TEST(refusal(delimiter("\n"), "one\ntwo") == errc::malformed_message);
  BOOST_TEST(refusal(delimiter("\r\n"), "\r\n") == errc::malformed_message);
  BOOST_TEST(refusal(delimiter("aa"), "a") == errc::malformed_message);  // "aaa" would parse as "" and a rest "a"
  BOOST_TEST(refusal(delimiter("abab"), "xab") == errc::malformed_message);
  BOOST_TEST(!refusal(delimiter("abab"), "xa"));
  BOOST_TEST(!refusal(delimiter("\r\r\n"), "x\r"));
}

// All messages of up to 6 letters and delimiters of up to 4 over {a, b}: wrap() refuses exactly the messages that would
// not arrive as sent.
BOOST_AUTO_TEST_CASE(what_is_accepted_arrives_and_what_is_refused_would_not) {
  std::vector<std::string> words{""};
  for (std::size_t i = 0; words[i].size() < 6; ++i)
    for (const char c : {'a', 'b'}) words.push_back(words[i] + c);
  for (const std::string& text : words) {
    if (text.empty() || text.size() > 4) continue;
    const delimiter wire(text);
    for (const std::string& message : words) {
      const frame f = parse_once(wire, message + text);
      const bool arrives = f.is == frame::state::complete && f.size == message.size() + text.size();
      BOOST_TEST(arrives == !refusal(wire, message), "\"" << text << "\" behind \"" << message << "\"");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_searched_is_not_searched_again) {
  delimiter_search s;
  std::string in(1000, '\r');
  BOOST_TEST(s.find(in, "\r\r\n") == bytes::npos);
  BOOST_TEST(s.seen() == 998U);
  for (std::size_t i = 0; i < 10'000; ++i) {
    in += "x";
    BOOST_REQUIRE(s.find(in, "\r\r\n") == bytes::npos);
    BOOST_REQUIRE(s.seen() == in.size() - 2);
  }
  in += "\r\r\n";
  BOOST_TEST(s.find(in, "\r\r\n") == in.size() - 3);
  BOOST_TEST(s.seen() == 0U);  // the next search is for another message
}

BOOST_AUTO_TEST_CASE(a_copy_begins_anew) {
  delimiter used("\n"), fresh("x");
  BOOST_TEST(used.parse("no line").is == frame::state::incomplete);
  fresh = used;
  BOOST_TEST(fresh.parse("a\nline").message == "a");
  BOOST_TEST(delimiter(used).parse("a\nline").message == "a");
}

BOOST_AUTO_TEST_CASE(the_beginning_of_a_text_at_the_very_front_is_kept) {
  delimiter_search s;
  BOOST_TEST(s.find("\r", "\r\n") == bytes::npos);
  BOOST_TEST(s.find("\r\n", "\r\n") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
