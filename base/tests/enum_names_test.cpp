// SPDX-License-Identifier: BSL-1.0
// enum_names_test: a table of names, read in both directions.
#include <boost/test/unit_test.hpp>

#include <quintet/base/enum_names.hpp>
#include <quintet/base/log.hpp>

#include <string>
#include <vector>

namespace quintet::test {
namespace {

enum class unnamed { one };

static_assert(named_enum<severity> && !named_enum<unnamed> && !named_enum<int>);
static_assert(to_string(severity::warning) == "warning");
static_assert(from_string<severity>("error") == severity::error);

BOOST_AUTO_TEST_CASE(each_name_means_its_enumerator) {
  BOOST_TEST(enumerators<severity>.size() == 4U);
  for (const severity s : enumerators<severity>) BOOST_TEST((from_string<severity>(to_string(s)) == s));
}

BOOST_AUTO_TEST_CASE(other_texts_mean_nothing) {
  for (const char* text : {"", "Error", "error ", "err", "errors", "0"})
    BOOST_TEST(!from_string<severity>(text).has_value(), "'" << text << "' was taken for a name");
  BOOST_TEST(to_string(static_cast<severity>(77)) == "unknown");
}

BOOST_AUTO_TEST_CASE(a_list_of_names_is_in_the_order_of_the_table) {
  BOOST_TEST(names_of<severity>() == "debug, info, warning, error");
  BOOST_TEST(names_of(std::vector{severity::error, severity::debug}) == "error, debug");
}

}  // namespace
}  // namespace quintet::test
