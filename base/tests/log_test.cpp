// SPDX-License-Identifier: BSL-1.0
// log_test: events reach the hook unchanged; a hook may be absent, or may throw.
#include <quintet/base/log.hpp>

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
