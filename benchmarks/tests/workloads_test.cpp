// SPDX-License-Identifier: BSL-1.0
// workloads_test.cpp: the names of workloads, their parameters, and which requests are expensive.
#include "workloads.hpp"
#include "options.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace quintet::bench;
using namespace std::chrono_literals;

namespace {

std::string request(std::uint32_t connection, std::uint32_t sequence) {
  std::string text;
  for (const std::uint32_t word : {connection, sequence}) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(word >> shift);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(workloads)

BOOST_AUTO_TEST_CASE(all_have_the_documented_shapes) {
  const auto all = default_workloads();
  BOOST_TEST(all.size() == 13u);
  const auto shape = [](const char* name) {
    const workload w = parse_workload(name).value();
    return std::to_string(w.connections) + " x " + std::to_string(w.message_bytes) + " x " + std::to_string(w.pipeline);
  };
  BOOST_TEST(shape("echo") == "100 x 8 x 1");
  BOOST_TEST(shape("latency") == "1 x 8 x 1");
  BOOST_TEST(shape("large") == "100 x 16384 x 1");
  BOOST_TEST(shape("pipeline") == "50 x 64 x 64");
  BOOST_TEST(shape("many") == "5000 x 8 x 1");
  BOOST_TEST(shape("timestamp") == "100 x 8 x 1");
  BOOST_TEST(shape("framed") == "1000 x 13 x 1");
  BOOST_TEST(parse_workload("short")->message_bytes == 64u);
  BOOST_TEST(parse_workload("short")->short_connections);
  BOOST_TEST(parse_workload("heartbeat")->heartbeat);
  BOOST_TEST(!parse_workload("mixed")->heartbeat);
}

BOOST_AUTO_TEST_CASE(costs_follow_the_colon) {
  BOOST_TEST((parse_workload("cpu:500us")->cost == 500us));
  BOOST_TEST((parse_workload("cpu")->cost == 200us));
  BOOST_TEST(parse_workload("cpu:500us")->name == "cpu:500us");
  BOOST_TEST((parse_workload("blocking:2ms")->cost == 2ms));
  BOOST_TEST((parse_workload("blocking:2ms")->kind == work_kind::blocking));
  BOOST_TEST((parse_workload("mixed")->cost == 5ms));
}

BOOST_AUTO_TEST_CASE(what_is_unknown_is_refused_with_what_there_is) {
  for (const char* wrong : {"", "ech", "echo ", "echo:2ms", "cpu:", "cpu:fast", "cpu:-1ms", "mixed:3ms", ":2ms"})
    BOOST_TEST(!parse_workload(wrong).has_value(), wrong);
  BOOST_CHECK_EXCEPTION(require_workload("ehco"), usage_error, [](const usage_error& e) {
    const std::string text = e.what();
    return text.find("\"ehco\"") != text.npos && text.find("heartbeat") != text.npos;
  });
}

BOOST_AUTO_TEST_CASE(one_request_in_ten_of_mixed_is_expensive_and_no_heartbeat_ever) {
  const auto mixed = *parse_workload("mixed");
  int expensive = 0;
  for (std::uint32_t sequence = 0; sequence < 1000; ++sequence)
    expensive += is_expensive(mixed, request(7, sequence)) ? 1 : 0;
  BOOST_TEST(expensive == 100);
  BOOST_TEST(is_expensive(mixed, request(7, 20)));
  BOOST_TEST(!is_expensive(mixed, request(heartbeat_connection, 20)));
  BOOST_TEST(is_expensive(*parse_workload("cpu"), request(7, 21)));
  BOOST_TEST(!is_expensive(*parse_workload("cpu"), request(heartbeat_connection, 21)));
  for (const char* cheap : {"echo", "ask", "timestamp", "framed"})
    BOOST_TEST(!is_expensive(*parse_workload(cheap), request(7, 20)), cheap);
}

BOOST_AUTO_TEST_CASE(a_frame_has_room_for_its_header_and_no_more_than_its_prefix_counts) {
  auto framed = *parse_workload("framed");
  for (const auto& [size, good] : {std::pair{9u, false}, {10u, true}, {65537u, true}, {65538u, false}}) {
    framed.message_bytes = size;
    if (good)
      BOOST_CHECK_NO_THROW(require_possible(framed));
    else
      BOOST_CHECK_THROW(require_possible(framed), usage_error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
