// SPDX-License-Identifier: BSL-1.0
// histogram_test.cpp: percentiles against the exact ones of the sorted values; counts, mode and distribution.
#include "load/histogram.hpp"
#include "load/report.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using quintet::bench::histogram;

namespace {

constexpr double worst_error = 0.008;

std::uint64_t exact(const std::vector<std::uint64_t>& sorted, double percent) {
  const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void compare_with_exact(std::vector<std::uint64_t> values) {
  histogram h;
  for (const auto v : values) h.record(v);
  std::sort(values.begin(), values.end());
  for (const double percent : {0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto want = static_cast<double>(exact(values, percent));
    const auto got = static_cast<double>(h.percentile(percent));
    BOOST_TEST(std::abs(got - want) <= worst_error * want, percent << " %: " << got << " instead of " << want);
  }
  BOOST_TEST(h.max() == values.back());
  BOOST_TEST(h.min() == values.front());
  BOOST_TEST(h.total() == values.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(histograms)

BOOST_AUTO_TEST_CASE(percentiles_are_within_0_8_percent_over_nine_decades) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(0, 11.9);
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(static_cast<std::uint64_t>(std::pow(10, exponent(random))));
  compare_with_exact(std::move(values));
}

BOOST_AUTO_TEST_CASE(a_long_tail_and_single_values) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> latency(std::log(40'000), 1.5);
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(static_cast<std::uint64_t>(latency(random)));
  compare_with_exact(std::move(values));
  compare_with_exact({123'456'789});
  compare_with_exact({0});
}

BOOST_AUTO_TEST_CASE(every_power_of_two_and_its_neighbours) {
  for (unsigned bit = 1; bit < 40; ++bit) {
    for (const int beside : {-1, 0, 1})
      compare_with_exact({(std::uint64_t{1} << bit) + static_cast<std::uint64_t>(beside)});
  }
}

BOOST_AUTO_TEST_CASE(values_beyond_the_range_keep_their_maximum) {
  histogram h;
  h.record(~std::uint64_t{0});
  BOOST_TEST(h.max() == ~std::uint64_t{0});
  BOOST_TEST(h.percentile(50) == h.max());  // clamped to what was seen
}

BOOST_AUTO_TEST_CASE(merging_is_recording_both) {
  histogram a;
  histogram b;
  histogram both;
  for (std::uint64_t v = 1; v < 5000; ++v) {
    (v % 3 == 0 ? a : b).record(v * v);
    both.record(v * v);
  }
  a.merge(b);
  BOOST_TEST(a.total() == both.total());
  BOOST_TEST(a.percentile(99) == both.percentile(99));
  BOOST_TEST(a.min() == both.min());
  BOOST_TEST(a.max() == both.max());
}

// A bucket that the bound divides does not count: what is said to be within the bound is.
BOOST_AUTO_TEST_CASE(counts_up_to_a_bound_are_never_too_high) {
  histogram h;
  for (const std::uint64_t v : {0, 5, 5, 127, 1'000'000}) h.record(v);
  BOOST_TEST(h.count_up_to(0) == 1u);
  BOOST_TEST(h.count_up_to(4) == 1u);
  BOOST_TEST(h.count_up_to(5) == 3u);
  BOOST_TEST(h.count_up_to(999'999) == 4u);
  BOOST_TEST(h.count_up_to(1'010'000) == 5u);
}

BOOST_AUTO_TEST_CASE(the_mode_is_where_most_values_lie) {
  histogram h;
  for (const std::uint64_t v : {100, 1'050, 1'950, 2'500, 2'500, 2'500, 90'000, 90'100}) h.record(v);
  BOOST_TEST(h.mode(1000) == 2000u);
  BOOST_TEST(h.mode(10'000) == 0u);
}

// Latencies of 450 us, 1.05 ms and 9.4 ms, and one of 12.3456 ms.
BOOST_AUTO_TEST_CASE(a_distribution_has_a_line_for_each_bound_that_adds_some) {
  histogram h;
  for (int i = 0; i < 5394; ++i) h.record(450'000);
  for (int i = 0; i < 4597; ++i) h.record(1'050'000);
  for (int i = 0; i < 8; ++i) h.record(9'400'000);
  h.record(12'345'600);
  BOOST_TEST(quintet::bench::distribution_text(h, 99'700.9) ==
             "53.94% <= 0.5 milliseconds\n"
             "99.91% <= 1.1 milliseconds\n"
             "99.99% <= 9.5 milliseconds\n"
             "100.00% <= 12.346 milliseconds\n"
             "99700.90 requests per second\n");
  BOOST_TEST(quintet::bench::distribution_text(histogram(), 0) == "0.00 requests per second\n");
}

BOOST_AUTO_TEST_CASE(a_distribution_of_short_latencies_has_finer_bounds) {
  histogram h;
  for (const std::uint64_t v : {5'000, 25'000, 95'000, 15'500'000, 16'000'000}) h.record(v);
  BOOST_TEST(quintet::bench::distribution_text(h, 5) ==
             "20.00% <= 0.01 milliseconds\n"
             "40.00% <= 0.03 milliseconds\n"
             "60.00% <= 0.1 milliseconds\n"
             "100.00% <= 16 milliseconds\n"
             "5.00 requests per second\n");
}

BOOST_AUTO_TEST_CASE(nothing_recorded_is_zero) {
  const histogram h;
  BOOST_TEST(h.total() == 0u);
  BOOST_TEST(h.percentile(99) == 0u);
  BOOST_TEST(h.min() == 0u);
  BOOST_TEST(h.count_up_to(1000) == 0u);
  BOOST_TEST(h.mode(1000) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
