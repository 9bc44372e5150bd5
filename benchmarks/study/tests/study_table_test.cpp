// SPDX-License-Identifier: BSL-1.0
// study_table_test.cpp: every label of the table has a figure, and caches stand in the layout of published ones.
#include "study/study_table.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "compare/scratch_file.hpp"
#include "study/study_document.hpp"

namespace quintet::bench {

static subject with(const std::string& server, double futex) {
  subject s;
  s.workload = "echo";
  s.server = server;
  s.figures["futex_per_request"] = {futex, futex * 1.1, futex * 1.2};
  return s;
}

static study_outcome two_servers() {
  study_outcome o;
  o.compared.found.command = "study";
  o.subjects = {with("reactor_pool", 0.2), with("loop_per_thread", 0.1)};
  o.not_measured = {"hardware counters: there are none"};
  return o;
}

static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(what_nobody_has_is_no_row_and_what_failed_says_so) {
  auto o = two_servers();
  o.subjects[0].figures["migrations_per_request"] = {0.004};
  const auto table = study_table(o, {});
  BOOST_TEST(has(table, "futex calls"));
  BOOST_TEST(has(table, "4.00                failed  /proc/PID/task/*/sched"));
  BOOST_TEST(!has(table, "page faults"));
  BOOST_TEST(!has(table, "last-level cache"));
  BOOST_TEST(has(table, "Not measured:\n  hardware counters: there are none\n"));
}

BOOST_AUTO_TEST_CASE(caches_have_their_source_and_published_figures_beside_them) {
  auto o = two_servers();
  o.subjects[0].cache_source = o.subjects[1].cache_source = "simulated";
  o.subjects[0].caches = {{1000, 100, 0, 10}};
  o.subjects[1].caches = {{1000, 50, 0, 10}};
  const auto table = study_table(o, {});
  BOOST_TEST(has(table, "10.000 %        -        100         10.0      +0.00  simulated"));
  BOOST_TEST(has(table, "5.000 %        -        100         5.00      -5.00  simulated"));
  BOOST_TEST(
      has(table, "31,807,891,996   1,515,770,600     4.765 %   126.84          -            -      +0.00  published"));
  BOOST_TEST(has(table, "3.787 %    99.50          -            -      -0.98  published"));
}

BOOST_AUTO_TEST_CASE(before_and_after_go_through_a_file) {
  auto o = two_servers();
  o.subjects[0].cache_source = "hardware";
  o.subjects[0].caches = {{1000, 100, 1.5, 10}};
  const scratch_file file("study");
  std::ofstream(file.path()) << boost::json::serialize(compose_study(o));
  const auto before = read_study(file.path());
  BOOST_TEST_REQUIRE(before.size() == 2u);
  BOOST_TEST(before[0].server == "reactor_pool");
  BOOST_TEST(before[0].figures.at("futex_per_request").size() == 3u);
  BOOST_TEST(before[0].caches.at(0).seconds == 1.5);
  o.subjects = {with("reactor_pool", 0.4)};
  const auto table = study_table(o, before);
  BOOST_TEST(has(table, "2.000"));  // twice as many futex calls
  BOOST_TEST(has(table, "reactor_pool, before"));
}

BOOST_AUTO_TEST_CASE(a_file_of_another_command_is_refused) {
  const scratch_file file("study");
  std::ofstream(file.path()) << R"({"command": "compare", "results": []})";
  BOOST_CHECK_THROW(read_study(file.path()), std::invalid_argument);
  std::ofstream(file.path()) << R"({"command": "study", "results": [], "study": [{"workload": "echo"}]})";
  BOOST_CHECK_THROW(read_study(file.path()), std::invalid_argument);
}

}  // namespace quintet::bench
