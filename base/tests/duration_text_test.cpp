// SPDX-License-Identifier: BSL-1.0
// duration_text_test: every duration is shown exactly, in the largest unit in which it is whole.
#include <quintet/base/work/duration_text.hpp>

#include <boost/test/unit_test.hpp>

namespace quintet::detail {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::nanoseconds, std::chrono::seconds;

BOOST_AUTO_TEST_CASE(the_largest_whole_unit) {
  BOOST_TEST(duration_text(1ns) == "1 ns");
  BOOST_TEST(duration_text(999us) == "999 us");
  BOOST_TEST(duration_text(1001us) == "1001 us");
  BOOST_TEST(duration_text(1000us) == "1 ms");
  BOOST_TEST(duration_text(90s) == "90 s");
  BOOST_TEST(duration_text(120s) == "2 min");
  BOOST_TEST(duration_text(seconds(25h)) == "25 h");
}

BOOST_AUTO_TEST_CASE(the_unit_of_the_type_does_not_matter) {
  BOOST_TEST(duration_text(nanoseconds(1h)) == "1 h");
  BOOST_TEST(duration_text(microseconds(1h)) == "1 h");
  BOOST_TEST(duration_text(milliseconds(1h)) == "1 h");
  BOOST_TEST(duration_text(seconds(1h)) == "1 h");
}

BOOST_AUTO_TEST_CASE(zero_and_negative_values) {
  BOOST_TEST(duration_text(0ns) == "0 s");
  BOOST_TEST(duration_text(0s) == "0 s");
  BOOST_TEST(duration_text(-1ns) == "-1 ns");
  BOOST_TEST(duration_text(nanoseconds(-1min)) == "-1 min");
}

BOOST_AUTO_TEST_CASE(the_extremes) {
  BOOST_TEST(duration_text(nanoseconds::max()) == "9223372036854775807 ns");
  BOOST_TEST(duration_text(nanoseconds::min()) == "-9223372036854775808 ns");
  BOOST_TEST(duration_text(seconds::max()) == "9223372036854775807 s");
}

}  // namespace
}  // namespace quintet::detail
