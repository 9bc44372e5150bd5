// SPDX-License-Identifier: BSL-1.0
// statistics_test.cpp: median, spread, overlap, and numbers as text.
#include "report/statistics.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "report/text.hpp"

namespace quintet::bench {

static sample_summary of(std::vector<double> values) { return summarise_samples(values).value(); }

BOOST_AUTO_TEST_CASE(nothing_measured_has_no_summary) {
  BOOST_TEST(!summarise_samples(std::vector<double>{}).has_value());
}

BOOST_AUTO_TEST_CASE(median_of_odd_and_even_counts) {
  BOOST_TEST(of({3, 1, 2}).median == 2);
  BOOST_TEST(of({4, 1, 3, 2}).median == 2.5);
  BOOST_TEST(of({7}).median == 7);
}

BOOST_AUTO_TEST_CASE(spread_is_the_range_over_the_median) {
  BOOST_TEST(of({90, 100, 120}).spread() == 0.3, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(of({5}).spread() == 0);
  BOOST_TEST(of({0, 0}).spread() == 0);  // and no division by zero
}

BOOST_AUTO_TEST_CASE(ranges_that_touch_overlap) {
  BOOST_TEST(overlap(of({1, 2}), of({2, 3})));
  BOOST_TEST(overlap(of({1, 9}), of({4, 5})));
  BOOST_TEST(!overlap(of({1, 2}), of({2.1, 3})));
  BOOST_TEST(!overlap(of({5}), of({4})));
}

static ratio_interval ratio(std::vector<double> of, std::vector<double> to) { return ratio_of(of, to).value(); }

BOOST_AUTO_TEST_CASE(few_rounds_give_the_whole_range_and_less_confidence) {
  const auto r = ratio({20, 22, 24}, {10, 11, 12});
  BOOST_TEST(r.ratio == 2);
  BOOST_TEST(r.low == 20.0 / 12);
  BOOST_TEST(r.high == 24.0 / 10);
  BOOST_TEST(r.confidence == 0.9, boost::test_tools::tolerance(1e-9));  // 1 - 2 / (6 over 3)
  BOOST_TEST(ratio({2}, {1}).confidence == 0);
}

BOOST_AUTO_TEST_CASE(many_rounds_leave_out_what_is_far_off) {
  std::vector<double> of, to;
  for (int i = 0; i < 20; ++i) of.push_back(100 + i), to.push_back(100 + i);
  of.back() = 1e6;  // a single round that was disturbed
  const auto r = ratio(of, to);
  BOOST_TEST(r.confidence >= 0.95);
  BOOST_TEST(r.contains(1));
  BOOST_TEST(r.low > 0.9);
  BOOST_TEST(r.high < 1.1);
}

BOOST_AUTO_TEST_CASE(five_against_five_as_in_the_tables_of_mann_and_whitney) {
  // Its critical value is 2: two pairs may lie on the wrong side.
  const auto r = ratio({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1});
  BOOST_TEST(r.confidence == 1 - 2 * 4.0 / 252, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(thousands_of_pairs_do_as_the_exact_count) {
  const std::vector<double> rounds(150, 3.0);
  BOOST_TEST(ratio(rounds, rounds).ratio == 1);
  BOOST_TEST(ratio(rounds, rounds).confidence == 0.95);
  BOOST_TEST(!ratio_of(std::vector<double>{0}, rounds).has_value());
}

BOOST_AUTO_TEST_CASE(numbers_as_people_read_them) {
  BOOST_TEST(grouped(112345.6) == "112,346");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(grouped(-1234567) == "-1,234,567");
  BOOST_TEST(significant(0.012345) == "0.0123");
  BOOST_TEST(significant(9.999) == "10.00");
  BOOST_TEST(micros(0.0978) == "97.8 ns");
  BOOST_TEST(micros(5.43) == "5.43 us");
  BOOST_TEST(micros(12345) == "12.3 ms");
  BOOST_TEST(micros(2e6) == "2.00 s");
  BOOST_TEST(percent(0.123) == "12 %");
  BOOST_TEST(percent(0.0034) == "0.3 %");
  BOOST_TEST(percent(0) == "0 %");
  BOOST_TEST(joined(std::vector<std::string>{"a", "b", "c"}) == "a, b and c");
}

}  // namespace quintet::bench
