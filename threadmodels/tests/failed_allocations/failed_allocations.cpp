// SPDX-License-Identifier: BSL-1.0
// failed_allocations: one allocation of a server fails, at any place. At most one connection ends, and nothing else
// happens. Then all fail for some milliseconds from that place on: no connection that needs no memory ends.
// QUINTET_LONG=1 tests each allocation of each scenario everywhere; otherwise each place is tested once.
// QUINTET_FAIL_AT="part of a function name" tests only the places below that function.
// ctest: LIBS -rdynamic TIMEOUT 300 NOT_UNDER thread
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../../net/tests/support/long_runs.hpp"
#include "trials.hpp"

#include <quintet/net/engine/make_engine.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

/// Returns whether the model is tested on the engine. Short runs test all models on epoll only; on the other engines,
/// they test one model with one loop and one with several.
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

/// Sums the trials of a scenario over all surroundings. In a single one, each repetition may find its buffers in a
/// cache.
struct tally {
  unsigned trials = 0, silent = 0;
};
std::map<std::string, tally>& trials_of() {
  static std::map<std::string, tally> counted;
  return counted;
}

/// QUINTET_FAIL_AT="part of a function name": only allocations below that function fail.
std::string_view chosen_place() {
  const char* const place = std::getenv("QUINTET_FAIL_AT");
  return place ? place : "";
}

void check(const scenario& what, const surroundings& where, int burst) {
  const std::string_view at = chosen_place();
  const trial_report report = try_all(what, where, {.every_one = at.empty() && is_long(), .burst = burst, .at = at});
  BOOST_TEST_MESSAGE(what.name << ", " << where << ", burst " << burst << ": " << to_string(report));
  tally& all = trials_of()[std::string(what.name)];
  all.trials += report.trials;
  all.silent += report.silent;
  BOOST_TEST((at.empty() || report.trials > 0), what.name << ", " << where << ": nothing allocates below " << at);
  BOOST_TEST(report.dropped == 0U, what.name << ", " << where << ": there are more places than the test has room for");
  BOOST_TEST(report.findings.empty(), what.name << ", " << where << ": " << to_string(report));
}

/// One allocation fails, or all do for a while, as in a process at its memory limit. In short runs the latter is tested
/// on one engine.
void check(const scenario& what, const surroundings& where) {
  check(what, where, 1);
  if (is_long() || where.engine == engine_kind::epoll) check(what, where, all_for_a_while);
}

BOOST_DATA_TEST_CASE(echo, data::make(everywhere), where) { check(echo_scenario, where); }
BOOST_DATA_TEST_CASE(registry, data::make(everywhere), where) { check(registry_scenario, where); }
BOOST_DATA_TEST_CASE(moving, data::make(everywhere), where) { check(moving_scenario, where); }
BOOST_DATA_TEST_CASE(awaiting, data::make(everywhere), where) { check(awaiting_scenario, where); }
BOOST_DATA_TEST_CASE(accepting, data::make(everywhere), where) { check(accepting_scenario, where); }
BOOST_DATA_TEST_CASE(client, data::make(everywhere), where) { check(client_scenario, where); }
BOOST_DATA_TEST_CASE(client_lifetime, data::make(everywhere), where) { check(client_lifetime_scenario, where); }
BOOST_DATA_TEST_CASE(lifetime, data::make(everywhere), where) { check(lifetime_scenario, where); }
BOOST_DATA_TEST_CASE(options, data::make(everywhere), where) { check(options_scenario, where); }

BOOST_AUTO_TEST_CASE(each_scenario_had_allocations_to_fail) {
  for (const auto& [name, all] : trials_of()) {
    std::printf("%-12s %6u allocations failed, %6u trials whose allocation did not come again\n", name.c_str(),
                all.trials, all.silent);
    const std::size_t least = chosen_place().empty() ? everywhere.size() : 1;
    BOOST_TEST(all.trials >= least, name << ": " << all.trials);
  }
}

}  // namespace
}  // namespace quintet::test
