// SPDX-License-Identifier: BSL-1.0
// histogram_test.cpp: percentiles against the exact ones of the sorted values.
#include "load/histogram.hpp"

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

BOOST_AUTO_TEST_CASE(nothing_recorded_is_zero) {
  const histogram h;
  BOOST_TEST(h.total() == 0u);
  BOOST_TEST(h.percentile(99) == 0u);
  BOOST_TEST(h.min() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
