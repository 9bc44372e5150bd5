// SPDX-License-Identifier: BSL-1.0
// plan_test.cpp: which runs, in which order, on which CPUs; and the lists on the command line.
#include "compare/plan.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "compare/progress.hpp"

namespace quintet::bench {

static compare_settings settings(std::string_view workloads, std::string_view models = "1,2,3,4,5",
                                 bool with_peers = true) {
  compare_settings s;
  s.workloads = parse_workloads(workloads);
  s.contenders = contenders_of(parse_models(models), with_peers);
  s.seed = 42;
  return s;
}

BOOST_AUTO_TEST_CASE(lists_of_workloads_and_models) {
  const auto s = settings("echo,cpu,blocking:5ms,echo");
  BOOST_TEST(s.workloads.size() == 3u);
  BOOST_TEST(s.workloads[1].name == "cpu:200us");
  BOOST_TEST(s.workloads[2].name == "blocking:5ms");
  BOOST_TEST(parse_models("4,single_reactor,2") == (std::vector<std::string>{"loop_per_thread", "single_reactor"}),
             boost::test_tools::per_element());
  BOOST_TEST(parse_models("all").size() == 5u);
  for (const auto* wrong : {"", "6", "echo", "1,,2", "all,1", "Single_Reactor"})
    BOOST_CHECK_THROW(parse_models(wrong), usage_error);
  for (const auto* wrong : {"", "echoo", "echo,", "cpu:fast"}) BOOST_CHECK_THROW(parse_workloads(wrong), usage_error);
}

BOOST_AUTO_TEST_CASE(io_workloads_keep_server_and_client_apart) {
  const auto s = settings("echo,cpu");
  const auto apart = place(s.workloads[0], {0, 1});
  BOOST_TEST(cpu_text(apart.server) == "1");
  BOOST_TEST(cpu_text(apart.client) == "0");
  BOOST_TEST(cpu_text(place(s.workloads[0], {0, 1, 2, 5, 6}).server) == "2,5-6");
  BOOST_TEST(cpu_text(place(s.workloads[1], {0, 1}).server) == "0-1");
  BOOST_TEST(cpu_text(place(s.workloads[0], {3}).client) == "3");
}

BOOST_AUTO_TEST_CASE(where_each_loop_needs_a_cpu_they_share_all) {
  auto s = settings("short");
  s.shared_cpus = true;
  const auto where = place(s, s.workloads[0]);
  BOOST_TEST(where.server == allowed_cpus(), boost::test_tools::per_element());
  BOOST_TEST(where.client == allowed_cpus(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(labels_tell_what_is_not_usual) {
  BOOST_TEST((contender{.model = "loop_per_thread"}.label()) == "loop_per_thread");
  BOOST_TEST((contender{.model = "loop_per_thread", .engine = "uring", .accept = "exclusive"}.label()) ==
             "loop_per_thread (uring, exclusive)");
}

BOOST_AUTO_TEST_CASE(every_combination_runs_once_a_round) {
  auto s = settings("echo,mixed");
  s.rounds = 3;
  const auto plan = make_plan(s);
  // echo: five models and two peers; mixed: five models; three rounds and a counting pass.
  BOOST_TEST(plan.size() == 12u * 4);
  std::map<std::string, int> seen;
  for (const auto& run : plan) ++seen[run.label()];
  for (const auto& [label, times] : seen) BOOST_TEST(times == 1, label);
  BOOST_TEST(
      std::is_sorted(plan.begin(), plan.begin() + 36, [](const auto& a, const auto& b) { return a.round < b.round; }));
  BOOST_TEST(plan.back().counting());
}

BOOST_AUTO_TEST_CASE(the_order_follows_from_the_seed) {
  auto s = settings("echo");
  const auto order = [&] {
    std::string all;
    for (const auto& run : make_plan(s)) all += run.label() + ";";
    return all;
  };
  const auto first = order();
  BOOST_TEST(order() == first);
  s.seed = 43;
  BOOST_TEST(order() != first);
}

BOOST_AUTO_TEST_CASE(peers_only_run_beside_what_they_are_compared_with) {
  auto s = settings("echo", "3");
  BOOST_TEST(make_plan(s).size() == 4u);
  s = settings("many", "1");  // a thread for each of 5,000 connections is not for the hand-written server
  BOOST_TEST(make_plan(s).size() == 4u);
  s = settings("echo", "1,2", false);
  s.counters = false;
  BOOST_TEST(make_plan(s).size() == 6u);
}

BOOST_AUTO_TEST_CASE(a_plan_fits_into_the_time_given) {
  using namespace std::chrono_literals;
  auto s = settings("echo,mixed");
  fit_within(s, 60s);
  const double takes = expected_seconds(s, make_plan(s));
  BOOST_TEST(takes <= 60);
  BOOST_TEST(takes > 58);
  fit_within(s, 1s);  // cannot be; runs too short to mean anything would help nobody
  BOOST_TEST((s.duration >= 100ms));
}

BOOST_AUTO_TEST_CASE(the_bar_says_how_far_and_how_long) {
  BOOST_TEST(progress::bar(12, 48, 23.4) == "[######..................]  12 of 48, about 23 s left");
  BOOST_TEST(progress::bar(48, 48, 0) == "[########################]  48 of 48, about 0 s left");
  BOOST_TEST(progress::bar(1, 48, 600) == "[........................]   1 of 48, about 10 min left");
}

}  // namespace quintet::bench
