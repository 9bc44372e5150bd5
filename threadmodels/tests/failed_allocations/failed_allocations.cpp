// SPDX-License-Identifier: BSL-1.0
// failed_allocations: one allocation of a server fails, wherever it is made: at most one connection ends, and nothing
// else happens. With QUINTET_LONG=1: each allocation of each scenario, everywhere; otherwise each place once.
// ctest: LIBS -rdynamic TIMEOUT 300 NOT_UNDER thread
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "long_runs.hpp"
#include "trials.hpp"

#include <map>
#include <string>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// All of them on epoll. On the other engines, if time matters, a model with one loop and one with several.
bool is_wanted(model kind, engine_kind engine) {
  return is_long() || engine == engine_kind::epoll || kind == model::single_reactor ||
         kind == model::loop_per_thread_pool;
}
std::vector<surroundings> all_surroundings() {
  std::vector<surroundings> all;
  for (const engine_kind engine : built_engines())
    for (const combination under : all_combinations)
      if (engine != engine_kind::automatic && is_wanted(under.kind, engine) && !refused_by_kernel(engine))
        all.push_back({under, engine});
  return all;
}
const std::vector<surroundings> everywhere = all_surroundings();

/// Of each scenario everywhere together: in one place the same run may find its buffers in a cache each time.
std::map<std::string, unsigned>& trials_of() {
  static std::map<std::string, unsigned> counted;
  return counted;
}

void check(const scenario& what, const surroundings& where) {
  const trial_report report = try_all(what, where, {.every_one = is_long(), .burst = 1});
  BOOST_TEST_MESSAGE(what.name << ", " << where << ": " << to_string(report));
  trials_of()[std::string(what.name)] += report.trials;
  BOOST_TEST(report.findings.empty(), what.name << ", " << where << ": " << to_string(report));
}

BOOST_DATA_TEST_CASE(echo, data::make(everywhere), where) { check(echo_scenario, where); }
BOOST_DATA_TEST_CASE(registry, data::make(everywhere), where) { check(registry_scenario, where); }
BOOST_DATA_TEST_CASE(moving, data::make(everywhere), where) { check(moving_scenario, where); }
BOOST_DATA_TEST_CASE(awaiting, data::make(everywhere), where) { check(awaiting_scenario, where); }
BOOST_DATA_TEST_CASE(accepting, data::make(everywhere), where) { check(accepting_scenario, where); }
BOOST_DATA_TEST_CASE(client, data::make(everywhere), where) { check(client_scenario, where); }
BOOST_DATA_TEST_CASE(lifetime, data::make(everywhere), where) { check(lifetime_scenario, where); }
BOOST_DATA_TEST_CASE(options, data::make(everywhere), where) { check(options_scenario, where); }

BOOST_AUTO_TEST_CASE(each_scenario_had_allocations_to_fail) {
  for (const auto& [name, trials] : trials_of()) BOOST_TEST(trials >= everywhere.size(), name << ": " << trials);
}

}  // namespace
}  // namespace quintet::test
