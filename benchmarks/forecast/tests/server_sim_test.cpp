// SPDX-License-Identifier: BSL-1.0
// server_sim_test.cpp: the simulated models do what their structure demands, with costs that are made up.
#include "forecast/server_sim.hpp"

#include <boost/test/unit_test.hpp>

#include "support/made_up_costs.hpp"

using namespace quintet::bench::forecasting;
using boost::test_tools::tolerance;

namespace {

scenario saturated(unsigned model, unsigned cores, double handler = 0) {
  return {.model = model,
          .cores = cores,
          .loops = cores,
          .workers = cores,
          .connections = 400,
          .handler = handler,
          .client = client_place::ideal};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forecast_server_sim)

BOOST_AUTO_TEST_CASE(one_seed_gives_one_result_and_another_seed_nearly_the_same) {
  const auto costs = made_up_costs();
  auto s = saturated(5, 3, 50);
  const auto first = simulate(costs, s), again = simulate(costs, s);
  BOOST_TEST(first.requests_per_s == again.requests_per_s);
  BOOST_TEST(first.p99 == again.p99);
  s.seed = 2;
  BOOST_TEST(simulate(costs, s).requests_per_s == first.requests_per_s, tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(loops_that_share_nothing_scale_with_the_cores) {
  const auto costs = made_up_costs();
  const double one = simulate(costs, saturated(4, 1)).requests_per_s;
  BOOST_TEST(one == 1e6 / 5, tolerance(0.05));
  for (const unsigned cores : {2U, 8U, 32U}) {
    auto s = saturated(4, cores);
    s.connections = 100 * cores;  // or else the last cores wait for requests
    BOOST_TEST(simulate(costs, s).requests_per_s == one * cores, tolerance(0.05));
  }
}

BOOST_AUTO_TEST_CASE(one_loop_uses_one_core) {
  const auto costs = made_up_costs();
  BOOST_TEST(simulate(costs, saturated(2, 8)).requests_per_s == simulate(costs, saturated(2, 1)).requests_per_s,
             tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(a_pool_behind_one_loop_is_bounded_by_the_loop) {
  const auto costs = made_up_costs();
  BOOST_TEST(simulate(costs, saturated(3, 2, 94)).requests_per_s == 2e6 / (8 + 6 + 94), tolerance(0.05));
  const auto many = simulate(costs, saturated(3, 32, 94));
  BOOST_TEST(many.requests_per_s < 1e6 / 8);
  BOOST_TEST(many.requests_per_s > 0.6e6 / 8);
  BOOST_TEST(simulate(costs, saturated(5, 32, 94)).requests_per_s > 2 * many.requests_per_s);
}

BOOST_AUTO_TEST_CASE(cheap_handlers_stay_on_the_loops_of_model_5) {
  const auto costs = made_up_costs();
  const auto found = simulate(costs, saturated(5, 2, 10));
  BOOST_TEST(found.worker_cpu == 0);
  BOOST_TEST(found.requests_per_s == 2e6 / (5 + 10), tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(a_lone_connection_pays_every_wake_up) {
  auto costs = made_up_costs();
  costs.spread = 0;
  scenario s{.model = 2, .connections = 1, .warm_up = 100, .requests = 1000};
  const auto found = simulate(costs, s);
  BOOST_TEST(found.client_cpu > 2 + 2);  // its request, and waking the server
  BOOST_TEST(found.loop_cpu > 5 + 2);
  BOOST_TEST(1e6 / found.requests_per_s > 5 + 2 + 10 + 10);
  s.model = 3;  // by a worker, and back
  BOOST_TEST(simulate(costs, s).requests_per_s < found.requests_per_s);
}

// What the cores did is what the requests cost, and no core did more than there is time.
BOOST_AUTO_TEST_CASE(utilisation_is_throughput_by_cost) {
  const auto costs = made_up_costs();
  for (unsigned model = 1; model <= 5; ++model) {
    scenario s{.model = model, .cores = 2, .loops = 2, .connections = 100, .handler = 50};
    s.client = client_place::shared_cores;
    const auto found = simulate(costs, s);
    const double busy = (found.server_cpu() + found.client_cpu) * found.requests_per_s / 1e6;
    BOOST_TEST(busy <= 2 * 1.001, "model " << model);
    BOOST_TEST(busy > (model == 2 ? 0.9 : 1.9), "model " << model << ": " << busy);
    BOOST_TEST(found.p50 <= found.p99);
    BOOST_TEST(found.p99 > 50);
  }
}

BOOST_AUTO_TEST_CASE(costs_between_and_beyond_the_points) {
  const request_cost cost{6, 9};
  BOOST_TEST(cost.at(1) == 6);
  BOOST_TEST(cost.at(100) == 6);
  BOOST_TEST(cost.at(316.22776) == 7.5, tolerance(1e-6));
  BOOST_TEST(cost.at(1000) == 9, tolerance(1e-9));
  BOOST_TEST(cost.at(10000) == 12, tolerance(1e-9));
  const auto costs = made_up_costs();
  BOOST_TEST(costs.wake.at(0).latency == 10);
  BOOST_TEST(costs.wake.at(50).latency == 20);
  BOOST_TEST(costs.wake.at(1000).cpu == 6);
}

BOOST_AUTO_TEST_SUITE_END()
