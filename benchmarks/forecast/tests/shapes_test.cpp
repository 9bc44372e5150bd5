// SPDX-License-Identifier: BSL-1.0
// shapes_test.cpp: the published shapes follow from the structures, whatever the costs are exactly.
#include "forecast/shapes.hpp"

#include <boost/test/unit_test.hpp>

#include "support/made_up_costs.hpp"

using namespace quintet::bench::forecasting;
using boost::test_tools::tolerance;

BOOST_AUTO_TEST_SUITE(forecast_shapes)

BOOST_AUTO_TEST_CASE(a_queue_that_all_cores_lock_saturates_and_falls_and_a_queue_each_does_not) {
  const auto found = accept_shape(made_up_costs(), 40);
  const auto& rows = found.rows;
  BOOST_TEST(rows.front().shared == rows.front().separate, tolerance(0.02));
  BOOST_TEST(rows.back().separate == 24 * rows.front().separate, tolerance(0.03));
  double most = 0;
  for (const auto& row : rows) most = std::max(most, row.shared);
  BOOST_TEST(most < 1e6 / 3);
  BOOST_TEST(rows.back().shared < 0.95 * most);
  BOOST_TEST(!found.conclusion.empty());
}

// With n cores of which each locks for s and works for z, no lock is passed faster than 1/s.
BOOST_AUTO_TEST_CASE(a_lock_that_costs_nothing_to_pass_on_saturates_and_does_not_fall) {
  auto costs = made_up_costs();
  costs.spin_share = 0;
  BOOST_TEST(simulate_accepting(costs, 2, 4, 36) == 2e6 / 40, tolerance(0.05));
  BOOST_TEST(simulate_accepting(costs, 40, 4, 36) == 1e6 / 4, tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(one_io_context_is_as_good_as_another_for_one_thread_and_falls_behind_with_many) {
  const auto found = io_context_shape(made_up_costs(), 1000);
  BOOST_TEST(found.rows.front().shared == found.rows.front().separate, tolerance(0.25));
  for (const auto& row : found.rows) {
    BOOST_TEST(row.shared < row.separate);
    if (row.threads == 8) BOOST_TEST(row.separate / row.shared > 1.5);
  }
}

BOOST_AUTO_TEST_CASE(shards_scale_with_the_cores) {
  const auto found = shard_shape(made_up_costs(), 4000);
  for (const auto& row : found.rows)
    BOOST_TEST(row.separate == row.cores * found.rows.front().separate, tolerance(0.05));
  BOOST_TEST(found.rows[1].published_separate.value() == 637'430);
}

BOOST_AUTO_TEST_SUITE_END()
