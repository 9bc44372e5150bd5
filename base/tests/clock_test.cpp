// SPDX-License-Identifier: BSL-1.0
// clock_test: deadlines, exact within the range of time_point and clamped beyond it.
#include <quintet/base/clock.hpp>

#include <boost/test/unit_test.hpp>

using namespace quintet;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_deadline_in_reach_is_exact) {
  constexpr time_point noon{12h};
  static_assert(later(noon, 1ns) - noon == 1ns);
  static_assert(later(noon, -1ns) - noon == -1ns);
  static_assert(later(noon, 0ns) == noon);
  static_assert(later(time_point::max() - 1ns, 1ns) == time_point::max());
  static_assert(later(time_point::min() + 1ns, -1ns) == time_point::min());
}

BOOST_AUTO_TEST_CASE(the_time_between_two_points_is_exact_or_the_longest) {
  constexpr time_point noon{12h}, before_boot{-12h};
  static_assert(between(noon, before_boot) == -24h);
  static_assert(between(before_boot, noon) == 24h);
  static_assert(between(noon, noon) == 0ns);
  static_assert(between(before_boot, time_point::max()) == duration::max());
  static_assert(between(noon, time_point::min()) == duration::min());
  static_assert(between(time_point::min(), time_point::max()) == duration::max());
  static_assert(between(time_point::max(), time_point::min()) == duration::min());
  static_assert(between(time_point::max(), time_point::max()) == 0ns);
}

BOOST_AUTO_TEST_CASE(a_deadline_out_of_reach_is_the_end_of_time) {
  constexpr time_point noon{12h}, before_boot{-12h};
  BOOST_TEST((later(noon, duration::max()) == time_point::max()));
  BOOST_TEST((later(noon, duration::max() - 12h + 1ns) == time_point::max()));
  BOOST_TEST((later(time_point::max(), 1ns) == time_point::max()));
  BOOST_TEST((later(before_boot, duration::min()) == time_point::min()));
  BOOST_TEST((later(time_point::min(), -1ns) == time_point::min()));
  BOOST_TEST((later(before_boot, duration::max()) == time_point(duration::max() - 12h)));
}
