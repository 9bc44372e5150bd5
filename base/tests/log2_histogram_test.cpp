// SPDX-License-Identifier: BSL-1.0
// log2_histogram_test: percentiles are never too small, and too large by less than a factor of two.
#include <quintet/base/metrics/log2_histogram.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>

namespace quintet {
namespace {

BOOST_AUTO_TEST_CASE(nothing_is_zero) {
  const auto none = log2_histogram().now();
  BOOST_TEST(none.total() == 0u);
  BOOST_TEST(none.percentile(99) == 0u);
  BOOST_TEST(none.max == 0u);
}

BOOST_AUTO_TEST_CASE(percentiles_of_one_to_a_thousand) {
  log2_histogram h;
  for (std::uint64_t v = 1; v <= 1000; ++v) h.add(v);
  const auto s = h.now();
  BOOST_TEST(s.total() == 1000u);
  BOOST_TEST(s.max == 1000u);
  BOOST_TEST(s.percentile(50) == 511u);
  BOOST_TEST(s.percentile(25) == 255u);
  BOOST_TEST(s.percentile(99) == 1000u);  // not 1023: no larger value was recorded
  BOOST_TEST(s.percentile(100) == 1000u);
  BOOST_TEST(s.percentile(0) == 1u);
}

BOOST_AUTO_TEST_CASE(the_ends_of_the_range) {
  log2_histogram h;
  h.add(0);
  BOOST_TEST(h.now().percentile(100) == 0u);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  h.add(most);
  BOOST_TEST(h.now().percentile(50) == 0u);
  BOOST_TEST(h.now().percentile(99) == most);
}

}  // namespace
}  // namespace quintet
