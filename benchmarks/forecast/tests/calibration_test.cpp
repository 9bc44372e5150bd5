// SPDX-License-Identifier: BSL-1.0
// calibration_test.cpp: a machine whose costs are known is simulated in place of a real one; its costs are found again,
// and so is what it does in runs that were held out.
#include "forecast/calibration.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "forecast/findings.hpp"
#include "support/made_up_costs.hpp"

using namespace quintet::bench::forecasting;
using boost::test_tools::tolerance;

namespace {

machine_costs the_machine() {
  auto costs = made_up_costs();
  for (std::size_t i = 0; i < costs.models.size(); ++i) {
    model_costs& of = costs.models[i];
    of.loop = {4.0 + static_cast<double>(i), 7.0 + static_cast<double>(i)};
    of.client = {5, 6};
    of.resume = 2;
    of.client_resume = 1;
    of.wake_extra = 3;
    of.expensive_loop = 9;
  }
  costs.work_factor = 1.1;
  return costs;
}

// What only probes can find.
machine_costs the_probes() {
  auto costs = the_machine();
  costs.models = {};
  return costs;
}

observation run_on(const machine_costs& machine, const observed& o, observation run) {
  const auto found = simulate(machine, scenario_of(run, o));
  run.requests_per_s = found.requests_per_s;
  run.p99 = found.p99;
  run.loop_cpu = found.loop_cpu;
  run.worker_cpu = found.worker_cpu;
  run.client_cpu = found.client_cpu;
  return run;
}

observed runs_on(const machine_costs& machine) {
  observed out;
  for (unsigned model = 1; model <= 5; ++model) {
    const auto add = [&](const char* work, double handler, unsigned connections, bool shared, bool fitted) {
      observation run{.model = model,
                      .workload = work,
                      .handler = handler,
                      .connections = connections,
                      .shared = shared,
                      .fitted = fitted};
      out.all.push_back(run_on(machine, out, run));
    };
    for (const unsigned connections : {1U, 100U, 1000U}) add("echo", 0, connections, false, true);
    add(fitted_handler, 50, 100, false, true);
    for (const unsigned connections : {10U, 30U, 300U}) add("echo", 0, connections, false, false);
    add("cpu:200us", 200, 100, false, false);
    add("cpu:200us", 200, 100, true, false);
    add("echo", 0, 100, true, false);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forecast_calibration)

BOOST_AUTO_TEST_CASE(costs_are_found_again) {
  const auto machine = the_machine();
  auto found = the_probes();
  calibrate(found, runs_on(machine));
  for (std::size_t i = 0; i < machine.models.size(); ++i) {
    const model_costs &is = machine.models[i], &got = found.models[i];
    BOOST_TEST_CONTEXT("model " << i + 1) {
      BOOST_TEST(got.known);
      BOOST_TEST(got.loop.at_few == is.loop.at_few, tolerance(0.05));
      BOOST_TEST(got.loop.at_many == is.loop.at_many, tolerance(0.05));
      BOOST_TEST(got.client.at_few == is.client.at_few, tolerance(0.05));
      BOOST_TEST(got.expensive_loop == is.expensive_loop, tolerance(0.05));
      BOOST_TEST(std::abs(got.wake_extra - is.wake_extra) < 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(runs_that_were_held_out_are_predicted) {
  const auto found = conclude_forecast({.cores = {1, 4}}, the_probes(), runs_on(the_machine()));
  const auto errors = summarise_errors(found.held_out);
  BOOST_TEST_REQUIRE(errors.has_value());
  BOOST_TEST(errors->runs == 30U);
  BOOST_TEST(errors->within == 30U);
  BOOST_TEST(errors->median < 0.02);
  BOOST_TEST(found.fitted.size() == 20U);
  BOOST_TEST(found.forecast.size() == 5U * 2 * 2);
  BOOST_TEST(!found.interrupted);
}

BOOST_AUTO_TEST_CASE(a_model_without_its_runs_is_left_out) {
  auto runs = runs_on(the_machine());
  std::erase_if(runs.all, [](const observation& o) { return o.model == 3 && o.connections == 1; });
  const auto found = conclude_forecast({.cores = {1}}, the_probes(), runs);
  BOOST_TEST(!found.costs.models[2].known);
  BOOST_TEST(found.forecast.size() == 4U * 2);
  for (const evaluated_run& j : found.held_out) BOOST_TEST(j.error().has_value() == (j.run.model != 3));
}

BOOST_AUTO_TEST_CASE(errors_are_counted_by_their_size_and_not_their_sign) {
  const auto evaluated = [](double measured, double simulated) {
    evaluated_run j;
    j.run.requests_per_s = measured;
    j.simulated = sim_outcome{};
    j.simulated->requests_per_s = simulated;
    return j;
  };
  const auto found = summarise_errors({evaluated(100, 110), evaluated(100, 80), evaluated(100, 100), evaluated_run{}});
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(found->runs == 3U);
  BOOST_TEST(found->within == 2U);
  BOOST_TEST(found->median == 0.1, tolerance(1e-9));
  BOOST_TEST(found->worst == 0.2, tolerance(1e-9));
  BOOST_TEST(!summarise_errors({}).has_value());
  auto disturbed = evaluated(100, 500);
  disturbed.run.disturbed = true;
  BOOST_TEST(summarise_errors({evaluated(100, 110), disturbed}, &evaluated_run::error, true)->runs == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
