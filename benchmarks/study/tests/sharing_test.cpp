// SPDX-License-Identifier: BSL-1.0
// sharing_test.cpp: what is said of a planted false sharing, with hardware counters and without.
#include "study/sharing.hpp"

#include <boost/json/array.hpp>
#include <boost/test/unit_test.hpp>

#include "options.hpp"

using namespace quintet::bench;

namespace {

sharing_findings two_rounds(double adjacent_misses, double adjacent_references) {
  sharing_findings f;
  f.planted = {0, 1, 1'000'000};
  for (const double slow : {1.0, 2.0}) {
    f.adjacent.push_back({50 * slow, adjacent_references, adjacent_misses});
    f.padded.push_back({5 * slow, 0.002, 0.001});
  }
  return f;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(planted_false_sharing)

BOOST_AUTO_TEST_CASE(it_is_found_by_misses_or_by_references_whichever_the_processor_counts) {
  BOOST_TEST(two_rounds(0.5, 0.6).found().value());
  BOOST_TEST(two_rounds(0.001, 0.6).found().value());
  BOOST_TEST(!two_rounds(0.001, 0.002).found().value());
  BOOST_TEST(says(two_rounds(0.5, 0.6).sentence(), "Found by hardware counters: 0.500 cache misses an increment"));
  BOOST_TEST(says(two_rounds(0.001, 0.002).sentence(), "Not found, though there are hardware counters"));
}

BOOST_AUTO_TEST_CASE(one_round_without_it_is_enough_to_doubt) {
  auto f = two_rounds(0.5, 0.6);
  f.adjacent[1] = {100, 0.002, 0.001};
  BOOST_TEST(!f.found().value());
}

BOOST_AUTO_TEST_CASE(without_counters_nothing_is_found_however_long_it_takes) {
  auto f = two_rounds(0, 0);
  f.obstacle = "perf stat says <not supported>";
  for (auto* rounds : {&f.adjacent, &f.padded}) {
    for (auto& r : *rounds) r.references = r.misses = std::nullopt;
  }
  BOOST_TEST(!f.found().has_value());
  const auto table = sharing_table(f);
  for (const auto* part : {"Cannot be found here, without hardware counters: perf stat says <not supported>.",
                           "cachegrind does not show it either", "10.0 times as long", "does not tell its cause"})
    BOOST_TEST(says(table, part), part << " is not in\n" << table);
  const auto out = compose_sharing(f);
  BOOST_TEST(out.at("found").is_null());
  BOOST_TEST(out.at("source").is_null());
  BOOST_TEST(out.at("layouts").at(0).at("cache_misses_per_increment").at("median").is_null());
  BOOST_TEST(out.at("time_ratio").at("median").as_double() == 10.0);
}

BOOST_AUTO_TEST_CASE(nothing_measured_is_said) {
  const sharing_findings none;
  BOOST_TEST(!none.found().has_value());
  BOOST_TEST(none.sentence() == "Nothing was measured.");
  BOOST_TEST(compose_sharing(none).at("time_ratio").at("median").is_null());
}

BOOST_AUTO_TEST_CASE(both_layouts_count) {
  const auto cpus = allowed_cpus();
  for (const counter_layout layout : all_layouts) {
    if (cpus.size() > 1) {
      const auto found = count_side_by_side({cpus[0], cpus[1], 100'000}, layout);
      BOOST_TEST(found.ns > 0);
      BOOST_TEST(found.increments >= 200'000u);
    }
    BOOST_TEST((parse_layout(std::string(to_string(layout))) == layout));
  }
  BOOST_CHECK_THROW(parse_layout("apart"), usage_error);
}

BOOST_AUTO_TEST_SUITE_END()
