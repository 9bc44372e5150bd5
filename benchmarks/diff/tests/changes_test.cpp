// SPDX-License-Identifier: BSL-1.0
// changes_test.cpp: what is called faster, slower, no difference and too noisy, and what cannot be compared.
#include "diff/changes.hpp"

#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "../../report/tests/support/made_up.hpp"
#include "diff/diff_report.hpp"
#include "diff/surroundings.hpp"

namespace quintet::bench {

static comparison with(std::initializer_list<double> speeds, const std::string& model = "single_reactor") {
  comparison c;
  add_rounds(c.results, "echo", model, speeds);
  return c;
}

static const change& speed_of(const differences& d) {
  BOOST_TEST_REQUIRE(!d.changes.empty());
  BOOST_TEST(d.changes[0].by.key == "requests_per_s");
  return d.changes[0];
}

static tendency tendency_of(std::initializer_list<double> before, std::initializer_list<double> after) {
  return speed_of(find_differences(with(before), with(after), {})).verdict;
}

BOOST_AUTO_TEST_CASE(a_file_does_not_differ_from_itself) {
  const auto c = with({100, 101, 102});
  for (const change& found : find_differences(c, c, {}).changes) {
    BOOST_TEST(found.ratio.ratio == 1);
    BOOST_TEST((found.verdict == tendency::no_difference));
  }
}

BOOST_AUTO_TEST_CASE(what_is_apart_is_faster_or_slower_by_its_own_sense) {
  BOOST_TEST((tendency_of({100, 101, 102}, {130, 131, 132}) == tendency::faster));
  BOOST_TEST((tendency_of({130, 131, 132}, {100, 101, 102}) == tendency::slower));
  // Of latencies more is worse.
  auto before = with({1, 2, 3}), after = before;
  for (auto& r : before.results) r.p99_us = 10;
  for (auto& r : after.results) r.p99_us = 20;
  const auto d = find_differences(before, after, {.metrics = {find_metric("p99_us")}});
  BOOST_TEST_REQUIRE(d.changes.size() == 1u);
  BOOST_TEST((d.changes[0].verdict == tendency::slower));
  BOOST_TEST(d.changes[0].loss() == 1);
}

BOOST_AUTO_TEST_CASE(noise_and_too_few_rounds_are_called_so) {
  BOOST_TEST((tendency_of({100, 150, 200}, {110, 160, 210}) == tendency::too_noisy));
  BOOST_TEST((tendency_of({100}, {200}) == tendency::too_noisy));
  // Apart, but by less than rounds that should be equal.
  BOOST_TEST((tendency_of({100, 120, 140}, {141, 160, 200}) == tendency::too_noisy));
}

BOOST_AUTO_TEST_CASE(a_change_below_the_tolerance_is_none) {
  BOOST_TEST((classify_change({1.01, 0.99, 1.03, 0.95}, true, 0.05, 0.1) == tendency::no_difference));
  BOOST_TEST((classify_change({1.01, 0.99, 1.03, 0.95}, true, 0.05, 0.02) == tendency::too_noisy));
  BOOST_TEST((classify_change({1.01, 1.005, 1.02, 0.95}, true, 0.005, 0.1) == tendency::faster));
}

BOOST_AUTO_TEST_CASE(combinations_of_one_file_alone_and_failures_are_told) {
  auto before = with({100, 101}), after = with({100, 101}, "reactor_pool");
  add_rounds(before.results, "mixed", "single_reactor", {5});
  add_rounds(after.results, "mixed", "single_reactor", {5});
  after.results.back().error = "not one reply";
  const auto d = find_differences(before, after, {});
  BOOST_TEST(d.changes.empty());
  BOOST_TEST_REQUIRE(d.others.size() == 3u);
  BOOST_TEST(d.others[0].why == "only in the first");
  BOOST_TEST(d.others[1].why == "failed in the second: not one reply");
  BOOST_TEST(d.others[1].broken);
  BOOST_TEST(d.others[2].why == "only in the second");
}

BOOST_AUTO_TEST_CASE(a_key_that_is_younger_than_a_file_keeps_nothing_apart) {
  auto before = with({100, 101}), after = with({100, 101});
  for (auto& r : after.results) r.offload = "always";
  BOOST_TEST(find_differences(before, after, {}).others.empty());
  for (auto& r : before.results) r.offload = "adaptive";
  BOOST_TEST(find_differences(before, after, {}).others.size() == 2u);
}

BOOST_AUTO_TEST_CASE(another_machine_is_warned_of) {
  auto before = with({100}), after = with({100});
  before.environment = {{"cpu_model", "A"}, {"kernel", "6.1"}, {"date", "yesterday"}, {"load_average_before", 1}};
  after.environment = {{"cpu_model", "B"}, {"kernel", "6.1"}, {"date", "today"}, {"load_average_before", 2}};
  const auto told = warnings(before, after);
  BOOST_TEST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told[0] == "another CPU: A, then B");
  for (auto& r : after.results) r.foreign_cpu_fraction = 0.5;
  BOOST_TEST(warnings(before, after).size() == 2u);
  const diff_side a{"a.json", before}, b{"b.json", after};
  const auto d = find_differences(before, after, {});
  BOOST_TEST(diff_table(a, b, d).find("warning: another CPU: A, then B\n") != std::string::npos);
  BOOST_TEST(compose_diff(a, b, d).at("warnings").as_array().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_figure_that_does_not_exist_is_refused) {
  BOOST_CHECK_THROW(find_metric("speed"), std::invalid_argument);
  BOOST_CHECK_THROW(find_metric("connections"), std::invalid_argument);
  BOOST_TEST(find_metric("mb_per_s").more_is_better);
}

}  // namespace quintet::bench
