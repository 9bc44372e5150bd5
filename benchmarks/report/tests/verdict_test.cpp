// SPDX-License-Identifier: BSL-1.0
// verdict_test.cpp: who wins, who is level, and when the noise forbids to say.
#include "report/verdict.hpp"

#include <boost/test/unit_test.hpp>

#include "made_up.hpp"
#include "report/advice.hpp"

namespace quintet::bench {

using results = std::vector<run_result>;

static bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_clear_winner_is_named_with_its_lead) {
  results all;
  add_rounds(all, "echo", "single_reactor", {120, 121, 122});
  add_rounds(all, "echo", "reactor_pool", {99, 100, 101});
  const auto v = compute_verdict(summarise(all), "echo");
  BOOST_TEST(v.winner.value() == "single_reactor");
  BOOST_TEST(v.ahead_by.value() == 1.21, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(!v.too_noisy);
  BOOST_TEST(v.sentence == "single_reactor serves most requests: 121 requests/s, 21 % more than reactor_pool.");
}

BOOST_AUTO_TEST_CASE(overlapping_spreads_are_too_noisy) {
  results all;
  add_rounds(all, "echo", "single_reactor", {90, 110, 130});
  add_rounds(all, "echo", "reactor_pool", {80, 100, 120});
  const auto v = compute_verdict(summarise(all), "echo");
  BOOST_TEST(v.too_noisy);
  BOOST_TEST(!v.winner.has_value());
  BOOST_TEST(mentions(v.sentence, "Too noisy to tell"));
}

BOOST_AUTO_TEST_CASE(leaders_may_be_level_and_still_beat_the_rest) {
  results all;
  add_rounds(all, "cpu:200us", "loop_per_thread", {98, 100, 102});
  add_rounds(all, "cpu:200us", "reactor_pool", {97, 99, 101});
  add_rounds(all, "cpu:200us", "single_reactor", {49, 50, 51});
  const auto v = compute_verdict(summarise(all), "cpu:200us");
  BOOST_TEST(!v.winner.has_value());
  BOOST_TEST(!v.too_noisy);
  BOOST_TEST(v.level.size() == 2u);
  BOOST_TEST(mentions(v.sentence, "2.00 times as many as single_reactor"));
}

BOOST_AUTO_TEST_CASE(one_round_proves_nothing) {
  results all{made_up("echo", "single_reactor", 1, 120), made_up("echo", "reactor_pool", 1, 100)};
  const auto v = compute_verdict(summarise(all), "echo");
  BOOST_TEST(!v.winner.has_value());
  BOOST_TEST(mentions(v.sentence, "in a single round"));
  BOOST_TEST(mentions(noise_sentence(summarise(all)), "ran once"));
}

BOOST_AUTO_TEST_CASE(heartbeats_are_judged_by_their_p99_where_less_is_better) {
  results all{made_up("heartbeat", "single_reactor", 1, 50), made_up("heartbeat", "single_reactor", 2, 50),
              made_up("heartbeat", "reactor_pool", 1, 100), made_up("heartbeat", "reactor_pool", 2, 100)};
  for (auto& r : all) r.heartbeat_p99_us = (r.model == "single_reactor" ? 200 : 500) + r.round;
  const auto v = compute_verdict(summarise(all), "heartbeat");
  BOOST_TEST(v.winner.value() == "single_reactor");
  BOOST_TEST(v.metric == "heartbeat_p99_us");
}

BOOST_AUTO_TEST_CASE(nothing_measured_is_said_and_not_a_crash) {
  auto failed = made_up("echo", "single_reactor", 1, 0);
  failed.error = "the server ended with status 1";
  const auto v = compute_verdict(summarise(results{failed}), "echo");
  BOOST_TEST(v.level.empty());
  BOOST_TEST(mentions(v.sentence, "No model"));
  BOOST_TEST(advise(summarise(results{failed})).size() == 3u);
}

BOOST_AUTO_TEST_CASE(advice_prefers_the_frugal_one_among_equals) {
  results all;
  add_rounds(all, "echo", "loop_per_thread", {98, 100, 102}, 6);
  add_rounds(all, "echo", "single_reactor", {97, 99, 101}, 5);
  add_rounds(all, "echo", "reactor_pool", {59, 60, 61}, 9);
  const auto advices = advise(summarise(all));
  BOOST_TEST(advices[0].handler == "cheap");
  BOOST_TEST(advices[0].model.value() == "single_reactor");
  BOOST_TEST(advices[0].as_good == std::vector<std::string>{"loop_per_thread"}, boost::test_tools::per_element());
  BOOST_TEST(!advices[1].workload.has_value());
  BOOST_TEST(mentions(advices[1].reason, "Not measured"));
}

BOOST_AUTO_TEST_CASE(a_busy_machine_makes_throughput_worthless_and_says_so) {
  results all;
  add_rounds(all, "echo", "reactor_pool", {200, 201, 202}, 9);  // more threads got more of the crowded CPUs
  add_rounds(all, "echo", "single_reactor", {100, 101, 102}, 5);
  for (auto& r : all) r.foreign_cpu_fraction = 0.6;
  const auto summary = summarise(all);
  BOOST_TEST(mentions(compute_verdict(summary, "echo").caution, "60 % of the CPUs"));
  BOOST_TEST(advise(summary)[0].model.value() == "single_reactor");
  BOOST_TEST(mentions(noise_sentence(summary), "on a quiet machine"));
  for (auto& r : all) r.foreign_cpu_fraction = 0.01;
  BOOST_TEST(compute_verdict(summarise(all), "echo").caution.empty());
  BOOST_TEST(advise(summarise(all))[0].model.value() == "reactor_pool");
}

BOOST_AUTO_TEST_CASE(peers_are_compared_round_by_round) {
  results all;
  for (unsigned round = 1; round <= 3; ++round) {
    all.push_back(made_up("echo", "single_reactor", round, 100, 10.0 * round));
    auto peer = made_up("echo", "", round, 100, 10.0 * round / 1.05);
    peer.model.reset();
    peer.peer = "epoll";
    all.push_back(peer);
  }
  const auto ratios = peer_ratios(all);
  BOOST_TEST(ratios.size() == 1u);
  // The machine slowed down threefold, and the ratio did not move.
  BOOST_TEST(ratios[0].ratio.median == 1.05, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(ratios[0].ratio.spread() < 1e-9);
}

}  // namespace quintet::bench
