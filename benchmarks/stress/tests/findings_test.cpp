// SPDX-License-Identifier: BSL-1.0
// findings_test.cpp: a demand is met or not, what was not measured meets none, and a failure outweighs everything.
#include "stress/findings.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

namespace quintet::bench {
namespace {

bool says(const findings& f, const std::string& text) { return f.text().find(text) != std::string::npos; }

BOOST_AUTO_TEST_SUITE(stress_findings)

BOOST_AUTO_TEST_CASE(figures_without_a_demand_pass) {
  findings f;
  BOOST_TEST(f.passed());
  f.tell("p50", "the p50", 1234.5, "us");
  f.remark("remarkable");
  BOOST_TEST(f.passed());
  BOOST_TEST(says(f, "1,235 us\n"));
  BOOST_TEST(says(f, "remarkable"));
}

BOOST_AUTO_TEST_CASE(a_bound_may_be_reached_and_not_exceeded) {
  findings f;
  f.at_most("ratio", "p99 ratio", 2, 2);
  f.exactly("served", "served", 100, 100);
  BOOST_TEST(f.passed());
  BOOST_TEST(says(f, "(at most 2)\n"));
  f.at_most("late", "late", 100.5, 100, "ms");
  BOOST_TEST(!f.passed());
  BOOST_TEST(says(f, "(at most 100)  FAILED"));
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_meets_no_demand) {
  findings f;
  f.at_most("ratio", "p99 ratio", std::nan(""), 2);
  BOOST_TEST(!f.passed());
  BOOST_TEST(says(f, "not measured"));
  BOOST_TEST(f.json().at("figures").as_object().at("ratio").is_null());
  BOOST_TEST(!f.json().at("demands").as_object().at("ratio").as_object().at("met").as_bool());
}

BOOST_AUTO_TEST_CASE(the_first_failure_is_the_one_that_is_told) {
  findings f;
  f.exactly("served", "served", 1, 1);
  f.fail("the server was killed by signal 9");
  f.fail("a peer cannot connect");
  BOOST_TEST(!f.passed());
  BOOST_TEST(says(f, "FAILED: the server was killed by signal 9"));
  BOOST_TEST(!says(f, "a peer"));
  BOOST_TEST(f.json().at("failure").as_string() == "the server was killed by signal 9");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::bench
