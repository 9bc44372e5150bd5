// SPDX-License-Identifier: BSL-1.0
// report_test.cpp: ratios to the reference, the verdict, and what is read of redis-benchmark.
#include "peers/peers_report.hpp"

#include "compare/child_process.hpp"
#include "peers/redis_load.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

using namespace quintet::bench;

namespace {

run_result made_up(const char* workload, const contender& who, unsigned round, double cpu_us) {
  run_result r;
  r.workload = workload;
  r.round = round;
  r.requests_per_s = 1e5;
  r.server_cpu_us_per_request = cpu_us;
  if (who.is_peer()) {
    r.peer = who.peer;
  } else {
    r.model = who.model;
    r.engine = who.engine;
    r.handler = who.handler;
  }
  return r;
}

const contender epoll{.peer = "epoll"}, libuv{.peer = "libuv"}, libev{.peer = "libev"};
const contender callback{.model = "single_reactor", .engine = "epoll"};
const contender coroutine{.model = "single_reactor", .engine = "epoll", .handler = "coroutine"};

/// Each round the machine is slower; the ratios are the same but for libev's.
comparison three_rounds() {
  comparison c;
  for (unsigned round = 1; round <= 3; ++round) {
    const double slow = round;
    c.results.push_back(made_up("echo", epoll, round, 4 * slow));
    c.results.push_back(made_up("echo", callback, round, 5 * slow));
    c.results.push_back(made_up("echo", coroutine, round, 6 * slow));
    c.results.push_back(made_up("echo", libuv, round, 8 * slow));
    c.results.push_back(made_up("echo", libev, round, 4 * slow * (0.8 + 0.1 * round)));
  }
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(peers_report)

BOOST_AUTO_TEST_CASE(each_is_compared_with_the_reference_of_its_round) {
  const auto out = compose_peers(three_rounds());
  const auto& ratios = out.at("ratios").as_array();
  BOOST_TEST_REQUIRE(ratios.size() == 4u);  // all but the reference
  const auto& ours = ratios[0].as_object();
  BOOST_TEST(ours.at("model").as_string() == "single_reactor");
  BOOST_TEST(ours.at("handler").as_string() == "callback");
  BOOST_TEST(ours.at("peer").is_null());
  BOOST_TEST(ours.at("reference").as_string() == "epoll");
  BOOST_TEST(ours.at("median").as_double() == 1.25);
  BOOST_TEST(ours.at("min").as_double() == 1.25);
  BOOST_TEST(ours.at("max").as_double() == 1.25);
  BOOST_TEST(ratios[1].at("handler").as_string() == "coroutine");
  BOOST_TEST(ratios[1].at("median").as_double() == 1.5);
  const auto& last = ratios[3].as_object();
  BOOST_TEST(last.at("peer").as_string() == "libev");
  BOOST_TEST(last.at("model").is_null());
  BOOST_TEST(last.at("min").as_double() == 0.9, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(last.at("max").as_double() == 1.1, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(out.at("summary").as_array().size() == 5u);
}

BOOST_AUTO_TEST_CASE(the_table_has_a_line_for_each_and_a_verdict) {
  const auto table = peers_table(three_rounds());
  const std::string verdict =
      "-> single_reactor needs 1.25 times the CPU of hand-written epoll (rounds from 1.25 to 1.25). Of the "
      "other "
      "peers libev needs least (1.00 times), libuv most (2.00 times).";
  for (const auto& part : {std::string("hand-written epoll"), std::string("single_reactor (coroutine)"),
                           std::string("libuv"), std::string("0.90 to 1.10"), verdict}) {
    BOOST_TEST(table.find(part) != table.npos, part << " is not in\n" << table);
  }
}

BOOST_AUTO_TEST_CASE(without_a_figure_of_the_reference_nothing_is_said) {
  comparison c;
  c.results.push_back(made_up("echo", callback, 1, 5));
  c.results.push_back(made_up("echo", epoll, 1, 4));
  c.results.back().error = "the server was killed by signal 9";
  const auto table = peers_table(c);
  BOOST_TEST(table.find("Nothing to say") != table.npos);
  BOOST_TEST(table.find("failed: the server was killed by signal 9") != table.npos);
}

BOOST_AUTO_TEST_CASE(instructions_have_a_table_of_their_own) {
  comparison c;
  c.results.push_back(made_up("latency", epoll, 1, 0));
  c.results.push_back(made_up("latency", callback, 1, 0));
  for (auto& r : c.results) r.server_cpu_us_per_request = r.requests_per_s = std::nullopt;
  c.results[0].instructions_per_request = 60;
  c.results[1].instructions_per_request = 150;
  const auto table = peers_table(c);
  BOOST_TEST(table.find("needs 2.50 times the instructions of hand-written epoll.") != table.npos, table);
  BOOST_TEST(table.find("Noise") == table.npos);
  const auto out = compose_peers(c);
  BOOST_TEST(out.at("ratios").at(0).at("metric").as_string() == "instructions_per_request");
  BOOST_TEST(out.at("results").at(0).at("requests_per_s").is_null());
}

BOOST_AUTO_TEST_CASE(redis_benchmark_is_read) {
  run_result r;
  take_redis_figures(r,
                     "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\","
                     "\"p99_latency_ms\",\"max_latency_ms\"\n"
                     "\"PING_MBULK\",\"98039.22\",\"0.519\",\"0.128\",\"0.503\",\"0.743\",\"1.055\",\"4.111\"\n");
  BOOST_TEST(r.requests_per_s.value() == 98039.22);
  BOOST_TEST(r.p50_us.value() == 503.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(r.p99_us.value() == 1055.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(r.max_us.value() == 4111.0, boost::test_tools::tolerance(1e-9));
  BOOST_CHECK_THROW(take_redis_figures(r = {}, "Could not connect to Redis at 127.0.0.1:1\n"), run_error);
}

BOOST_AUTO_TEST_CASE(memory_is_told_with_a_forecast_where_it_was_measured) {
  auto c = three_rounds();
  BOOST_TEST(peers_table(c).find("memory") == std::string::npos);
  for (auto& r : c.results) {
    r.connections = 10'000;
    r.bytes_per_connection = r.peer ? 64 : 1024;
  }
  const auto table = peers_table(c);
  BOOST_TEST(table.find("each of 10,000 connections") != std::string::npos);
  BOOST_TEST(table.find("1,024 B   977 MiB for 1 million, 1,950 MiB for 2 million") != std::string::npos, table);
}

BOOST_AUTO_TEST_SUITE_END()
