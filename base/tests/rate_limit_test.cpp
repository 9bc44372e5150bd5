// SPDX-License-Identifier: BSL-1.0
// rate_limit_test: a rate per second, and a burst.
#include <quintet/base/rate_limit.hpp>

#include <boost/test/unit_test.hpp>

using namespace quintet;
using std::chrono::milliseconds;

namespace {

/// Takes all that the limit allows at `now`. Returns the count.
int take_all(rate_limit& limit, time_point now, int most = 10'000) {
  int taken = 0;
  for (; taken < most && limit.wait(now) == duration::zero(); ++taken) limit.take(now);
  return taken;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_burst_then_the_rate) {
  rate_limit limit(10, 5);
  const time_point begin{std::chrono::hours(1)};
  BOOST_TEST(take_all(limit, begin) == 5);
  BOOST_TEST((limit.wait(begin) == milliseconds(100)));
  BOOST_TEST(take_all(limit, begin + milliseconds(99)) == 0);
  BOOST_TEST(take_all(limit, begin + milliseconds(100)) == 1);
  BOOST_TEST(take_all(limit, begin + milliseconds(400)) == 3);
  BOOST_TEST(take_all(limit, begin + std::chrono::hours(1)) == 5);  // the bucket holds at most the burst
}

BOOST_AUTO_TEST_CASE(without_a_burst_a_second_of_them) {
  rate_limit limit(7, 0);
  BOOST_TEST(take_all(limit, time_point{std::chrono::hours(1)}) == 7);
}

BOOST_AUTO_TEST_CASE(over_a_long_time_exactly_the_rate) {
  rate_limit limit(3, 1);
  int taken = 0;
  const time_point begin{std::chrono::hours(1)};
  for (int ms = 0; ms < 60'000; ++ms) taken += take_all(limit, begin + milliseconds(ms));
  BOOST_TEST(taken == 180);
}

BOOST_AUTO_TEST_CASE(no_rate_is_no_limit) {
  rate_limit limit(0, 0);
  BOOST_TEST(take_all(limit, time_point{}) == 10'000);
}
