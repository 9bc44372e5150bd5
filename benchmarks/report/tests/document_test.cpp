// SPDX-License-Identifier: BSL-1.0
// document_test.cpp: the JSON has every key, says null for what was not measured, and can be read back.
#include "report/document.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "made_up.hpp"
#include "report/summary.hpp"
#include "report/table.hpp"

namespace quintet::bench {
namespace json = boost::json;

// Scripts and people rely on these names.
constexpr const char* result_keys[] = {"workload",
                                       "model",
                                       "engine",
                                       "accept",
                                       "offload",
                                       "peer",
                                       "round",
                                       "connections",
                                       "message_bytes",
                                       "pipeline",
                                       "handler_us",
                                       "duration_s",
                                       "requests",
                                       "failed",
                                       "requests_per_s",
                                       "mb_per_s",
                                       "p50_us",
                                       "p90_us",
                                       "p99_us",
                                       "p999_us",
                                       "max_us",
                                       "server_cpu_us_per_request",
                                       "server_user_us_per_request",
                                       "client_cpu_us_per_request",
                                       "syscalls_per_request",
                                       "futex_per_request",
                                       "context_switches_per_request",
                                       "server_threads",
                                       "server_rss_bytes",
                                       "bytes_per_connection",
                                       "accepted_locally",
                                       "accept_balance",
                                       "accept_wakes_per_connection",
                                       "machine_softirq_fraction",
                                       "heartbeat_p50_us",
                                       "heartbeat_p99_us",
                                       "heartbeat_max_us",
                                       "server_cpus",
                                       "client_cpus"};

static comparison two_rounds() {
  comparison c;
  c.version = "1.2.3";
  c.environment["cores"] = 2;
  add_rounds(c.results, "echo", "single_reactor", {100, 110});
  return c;
}

BOOST_AUTO_TEST_CASE(another_shape_is_another_combination_and_a_failed_round_is_not) {
  std::vector<run_result> results;
  for (const double connections : {5, 10, 5, 10}) {
    results.push_back(made_up("echo", "single_reactor", results.size() < 2 ? 1 : 2, 100));
    results.back().connections = connections;
    results.back().engine = "epoll";
  }
  results.push_back(results.front());
  results.back().engine = "automatic";  // it died before it said which
  results.back().error = "the server was killed by signal 9";
  const auto summary = summarise(results);
  BOOST_TEST_REQUIRE(summary.size() == 2u);
  BOOST_TEST(summary[0].first.connections.value() == 5);
  BOOST_TEST(summary[0].rounds == 2u);
  BOOST_TEST(summary[0].failures == 1u);
  BOOST_TEST(summary[1].rounds == 2u);
}

BOOST_AUTO_TEST_CASE(every_key_is_there_and_absent_figures_are_null) {
  const auto document = compose(two_rounds());
  for (const auto* key : {"quintet", "command", "environment", "results", "summary", "verdicts", "advice", "noise"}) {
    BOOST_TEST(document.contains(key), key);
  }
  const auto& result = document.at("results").at(0).as_object();
  for (const auto* key : result_keys) BOOST_TEST(result.contains(key), key);
  for (const auto* key : {"p50_us", "syscalls_per_request", "heartbeat_max_us", "bytes_per_connection", "peer"}) {
    BOOST_TEST(result.at(key).is_null(), key);
  }
  BOOST_TEST(result.at("failed").as_int64() == 0);  // measured, and none
}

BOOST_AUTO_TEST_CASE(the_summary_has_medians_and_spreads) {
  const auto document = compose(two_rounds());
  BOOST_TEST(document.at("summary").as_array().size() == 1u);
  const auto& row = document.at("summary").at(0).as_object();
  BOOST_TEST(row.at("requests_per_s").as_double() == 105);
  BOOST_TEST(row.at("rounds").to_number<int>() == 2);
  BOOST_TEST(row.at("spread").at("requests_per_s").as_double() == 0.0952381, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(row.at("range").at("requests_per_s").at(1).as_double() == 110);
  BOOST_TEST(row.at("spread").at("p50_us").is_null());
}

BOOST_AUTO_TEST_CASE(a_failed_run_does_not_move_the_median) {
  auto c = two_rounds();
  auto failed = made_up("echo", "single_reactor", 3, 0);
  failed.requests_per_s.reset();
  failed.error = "the server was killed by signal 11";
  c.results.push_back(failed);
  const auto summary = summarise(c.results);
  BOOST_TEST(summary.at(0).failures == 1u);
  BOOST_TEST(summary.at(0)[&run_result::requests_per_s]->median == 105);
  BOOST_TEST(console_table(c).find("1 of 3 runs failed: the server was killed by signal 11") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_bottleneck_of_each_server_and_the_network_are_told) {
  comparison c;
  for (const char* model : {"single_reactor", "reactor_pool", "loop_per_thread"}) {
    auto r = made_up("echo", model, 1, 100);
    r.client_cpu_fraction = 0.5;
    r.server_busy_fraction = r.model == "loop_per_thread" ? 0.5 : 0.99;
    r.net_packets_per_request = r.model == "loop_per_thread" ? 2.5 : 2;
    r.net_bytes_per_request = 60 * *r.net_packets_per_request;
    c.results.push_back(r);
  }
  const auto table = console_table(c);
  for (const auto* part : {"Bottleneck: server CPU (single_reactor and reactor_pool); none (loop_per_thread).",
                           "Network: 2.00 to 2.50 packets and 120 to 150 B for a request, 60.0 B a packet, whoever"})
    BOOST_TEST(table.find(part) != table.npos, part << " is not in\n" << table);
  const auto document = compose(c);
  BOOST_TEST(document.at("summary").at(0).at("bottleneck").as_string() == "server_cpu");
  BOOST_TEST(console_table(two_rounds()).find("Bottleneck") == std::string::npos);  // nobody looked
}

BOOST_AUTO_TEST_CASE(what_was_written_can_be_read_back) {
  const auto before = compose(two_rounds());
  const auto text = pretty(before);
  const auto again = parse_comparison(text);
  BOOST_TEST(again.version == "1.2.3");
  BOOST_TEST(pretty(compose(again)) == text);
  BOOST_TEST(pretty(json::parse(text)) == text);  // 100.0 comes back as 100, which is the same text
}

BOOST_AUTO_TEST_CASE(text_that_is_no_such_document_is_refused_with_a_sentence) {
  for (const auto* text : {"", "[1,", "[]", "{}", R"({"results": 1})", R"({"results": [1]})", R"({"results": [{}]})",
                           R"({"results": [{"workload": "echo", "p50_us": "fast"}]})"}) {
    BOOST_CHECK_THROW(parse_comparison(text), std::invalid_argument);
  }
}

}  // namespace quintet::bench
