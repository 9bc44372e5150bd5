// SPDX-License-Identifier: BSL-1.0
// rebalance_plan_test: the planned transfers between loops.
#include <quintet/net/server/rebalance_plan.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using quintet::detail::plan_transfers;

namespace {

std::vector<double> after(std::vector<double> loads, double factor, double least) {
  std::vector<double> given(loads.size());
  for (const auto& t : plan_transfers(loads, factor, least)) {
    BOOST_TEST(t.from != t.to);
    BOOST_TEST(t.share > 0);
    given[t.from] -= t.share * loads[t.from];
    given[t.to] += t.share * loads[t.from];
  }
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i] += given[i];
  return loads;
}

}  // namespace

BOOST_AUTO_TEST_CASE(three_to_one) {
  const auto plan = plan_transfers(std::vector<double>{300, 100}, 1.2, 2);
  BOOST_REQUIRE(plan.size() == 1U);
  BOOST_TEST(plan[0].from == 0U);
  BOOST_TEST(plan[0].to == 1U);
  BOOST_TEST(plan[0].share == 1.0 / 3, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(what_is_even_enough_stays) {
  BOOST_TEST(plan_transfers(std::vector<double>{119, 100}, 1.2, 2).empty());
  BOOST_TEST(plan_transfers(std::vector<double>{120, 100}, 1.2, 2).empty());
  BOOST_TEST(!plan_transfers(std::vector<double>{121, 100}, 1.2, 2).empty());
}

BOOST_AUTO_TEST_CASE(what_differs_by_too_little_stays) {
  BOOST_TEST(plan_transfers(std::vector<double>{1, 0}, 1.2, 2).empty());
  BOOST_TEST(!plan_transfers(std::vector<double>{2, 0}, 1.2, 2).empty());
  BOOST_TEST(plan_transfers(std::vector<double>{0.04, 0}, 1.2, 0.05).empty());
}

BOOST_AUTO_TEST_CASE(nothing_to_give_or_nobody_to_take) {
  BOOST_TEST(plan_transfers({}, 1.2, 2).empty());
  BOOST_TEST(plan_transfers(std::vector<double>{100}, 1.2, 2).empty());
  BOOST_TEST(plan_transfers(std::vector<double>{0, 0, 0}, 1.2, 0).empty());
}

BOOST_DATA_TEST_CASE(all_become_equal, boost::unit_test::data::xrange(5), seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  for (int round = 0; round < 100; ++round) {
    std::vector<double> loads(2 + random() % 10);
    for (double& load : loads) load = static_cast<double>(random() % 1000);
    const auto plan = plan_transfers(loads, 1.05, 2);
    BOOST_TEST(plan.size() < loads.size());
    if (plan.empty()) continue;
    const auto even = after(loads, 1.05, 2);
    const auto [lowest, highest] = std::ranges::minmax(even);
    BOOST_TEST(highest - lowest < 1e-6);
  }
}
