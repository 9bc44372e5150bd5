// SPDX-License-Identifier: BSL-1.0
// log_test: events reach the hook unchanged; a hook may be absent, or may throw.
#include <quintet/base/log.hpp>
#include <quintet/base/rate_limit.hpp>

#include <boost/test/unit_test.hpp>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace quintet {
namespace {

BOOST_AUTO_TEST_CASE(each_severity_has_its_own_name_and_they_are_ordered) {
  std::set<std::string_view> names;
  for (const severity s : {severity::debug, severity::info, severity::warning, severity::error})
    names.insert(to_string(s));
  BOOST_TEST(names.size() == 4U);
  BOOST_TEST(!names.contains("unknown"));
  BOOST_TEST((severity::debug < severity::info && severity::info < severity::warning));
  BOOST_TEST((severity::warning < severity::error));
}

BOOST_AUTO_TEST_CASE(an_event_is_one_line_of_what_it_has) {
  const error_code stopped = errc::stopped;
  BOOST_TEST(to_string(log_event{.what = "listens"}) == "listens");
  BOOST_TEST(to_string(log_event{.what = "listens", .address = "[::1]:7"}) == "[::1]:7: listens");
  BOOST_TEST(to_string(log_event{.what = "refused", .reason = stopped}) ==
             "refused: the server, client or event loop was stopped");
  BOOST_TEST(to_string(log_event{severity::warning, "refused", stopped, "1.2.3.4:5"}) ==
             "1.2.3.4:5: refused: the server, client or event loop was stopped");
  BOOST_TEST(to_string(log_event{.reason = stopped}) == "the server, client or event loop was stopped");
  BOOST_TEST(to_string(log_event{.reason = stopped, .address = "here"}) ==
             "here: the server, client or event loop was stopped");
  BOOST_TEST(to_string(log_event{}).empty());
}

BOOST_AUTO_TEST_CASE(of_a_flood_some_lines_are_logged_and_the_next_says_how_many_were_not) {
  std::vector<std::string> seen;
  const log_hook hook = [&seen](const log_event& e) { seen.push_back(to_string(e)); };
  log_limit limit;
  manual_clock time;
  time.advance(std::chrono::hours(1));
  int addresses = 0;
  const auto flood = [&](const log_hook& to, int count) {
    for (int i = 0; i < count; ++i)
      limit.report(to, {.what = "refused"}, time.now(), [&] { return std::to_string(++addresses); });
  };
  flood({}, 100);
  flood(hook, 100);
  BOOST_TEST(seen.size() == log_limit::per_second);
  BOOST_TEST(addresses == 10);
  BOOST_TEST(seen.back() == "10: refused");
  time.advance(std::chrono::milliseconds(100));
  flood(hook, 2);
  BOOST_TEST(seen.size() == 11U);
  BOOST_TEST(seen.back() == "11: refused (and 90 more before it)");
  time.advance(std::chrono::seconds(1));
  limit.report(hook, {.what = "refused", .address = "here"}, time.now());
  BOOST_TEST(seen.back() == "here: refused (and 1 more before it)");
}

BOOST_AUTO_TEST_CASE(the_hook_is_given_the_event) {
  std::vector<std::string> seen;
  const log_hook hook = [&](const log_event& e) {
    BOOST_TEST((e.level == severity::error));
    BOOST_TEST((e.reason == errc::handler_threw));
    seen.push_back(std::string(e.what) + '|' + std::string(e.address));
  };
  report(hook, {severity::error, "what", errc::handler_threw, "where"});
  BOOST_TEST(seen == std::vector<std::string>{"what|where"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_hook_and_one_that_throws_do_no_harm) {
  report({}, {.what = "unheard"});
  int calls = 0;
  const log_hook throwing = [&](const log_event&) {
    ++calls;
    throw std::runtime_error("the disk is full");
  };
  report(throwing, {.what = "lost"});
  report(throwing, {.what = "lost"});
  BOOST_TEST(calls == 2);
}

}  // namespace
}  // namespace quintet
