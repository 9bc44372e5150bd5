// SPDX-License-Identifier: BSL-1.0
// load_test.cpp: the load generator against right servers: nothing fails, everything is counted.
// It measures: beside others a short window may be empty, and is then measured again for twice as long.
// ctest: RUN_SERIAL
#include "load/report.hpp"
#include "load/run.hpp"
#include "run_until_answered.hpp"
#include "running_echo.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cmath>

using namespace quintet::bench;
using namespace std::chrono_literals;

namespace {

load_settings brief(std::uint16_t port, const char* workload = "echo") {
  load_settings s;
  s.target = {"127.0.0.1", port};
  s.work = require_workload(workload);
  s.duration = 300ms;
  s.warm_up = 50ms;
  return s;
}

void expect_success(const load_settings& s) {
  const load_result r = run_until_answered(s);
  BOOST_TEST(r.failed == 0u, r.first_failure);
  BOOST_TEST(r.requests > 0u);
  BOOST_TEST(r.latencies.total() == r.requests);
  BOOST_TEST(r.latencies.percentile(50) > 0u);
  BOOST_TEST(r.latencies.percentile(50) <= r.latencies.max());
  BOOST_TEST(r.client_cpu_s > 0);
  BOOST_TEST(r.seconds() >= 0.3);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(load_against_the_references)

BOOST_AUTO_TEST_CASE(the_epoll_server_fails_nothing) {
  const running_echo server("epoll");
  for (const char* workload : {"echo", "latency", "large", "pipeline", "short"}) {
    BOOST_TEST_CONTEXT(workload) expect_success(brief(server.port(), workload));
  }
}

BOOST_AUTO_TEST_CASE(the_blocking_server_fails_nothing) {
  const running_echo server("blocking");
  for (const char* workload : {"echo", "large", "pipeline", "short"}) {
    BOOST_TEST_CONTEXT(workload) expect_success(brief(server.port(), workload));
  }
}

BOOST_AUTO_TEST_CASE(the_blocking_client_fails_nothing) {
  const running_echo server("epoll");
  for (const char* workload : {"echo", "large", "pipeline", "short"}) {
    auto s = brief(server.port(), workload);
    s.client = client_kind::blocking;
    s.work.connections = 20;
    BOOST_TEST_CONTEXT(workload) expect_success(s);
  }
}

BOOST_AUTO_TEST_CASE(odd_sizes_depths_and_threads) {
  const running_echo server("epoll");
  auto s = brief(server.port());
  s.work.connections = 7;
  s.work.message_bytes = 300'001;  // larger than any buffer on the way
  s.work.pipeline = 3;
  s.threads = 3;
  expect_success(s);
  s.work.message_bytes = 13;
  s.work.pipeline = 1000;
  expect_success(s);
}

BOOST_AUTO_TEST_CASE(short_connections_closed_by_reset) {
  const running_echo server("epoll");
  auto s = brief(server.port(), "short");
  s.close_by_reset = true;
  expect_success(s);
}

BOOST_AUTO_TEST_CASE(a_schedule_is_kept) {
  const running_echo server("epoll");
  for (const char* workload : {"echo", "short"}) {
    for (const auto client : {client_kind::epoll, client_kind::blocking}) {
      auto s = brief(server.port(), workload);
      s.client = client;
      s.work.connections = 10;
      s.rate = 500;
      s.duration = 1s;
      const load_result r = run_load(s);
      BOOST_TEST(r.failed == 0u, r.first_failure);
      // Wide, for busy machines: without a schedule it would be a hundred times as many.
      BOOST_TEST(static_cast<double>(r.requests) >= 0.7 * s.rate * r.seconds());
      BOOST_TEST(static_cast<double>(r.requests) <= 1.1 * s.rate * r.seconds() + 20);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rate_beyond_the_server_is_said_and_what_was_answered_counts) {
  const running_echo server("epoll");
  auto s = brief(server.port());
  s.rate = 50'000'000;
  const load_result r = run_until_answered(s);
  BOOST_TEST(r.failed == 0u, r.first_failure);
  BOOST_TEST(r.requests > 0u);
  BOOST_TEST(r.rate_missed());
  BOOST_TEST(to_text(s, r).find("the rate was too high") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(heartbeats_come_every_10_ms) {
  const running_echo server("epoll");
  auto s = brief(server.port());
  s.heartbeat = s.target;
  s.duration = 500ms;
  const load_result r = run_load(s);
  BOOST_TEST(r.failed == 0u, r.first_failure);
  const auto beats = static_cast<double>(r.heartbeats.total());
  BOOST_TEST(std::abs(beats - 100 * r.seconds()) <= 2);
}

BOOST_AUTO_TEST_CASE(the_bottleneck_has_a_name) {
  const auto s = brief(7007);
  load_result r;
  r.requests = 1000;
  r.measured_from_ns = 1'000'000'000;
  r.measured_to_ns = 3'000'000'000;
  r.busy_limit = 2;
  r.client_cpu_s = 3.7;  // of the 4 that two threads have in two seconds
  const auto says = [&](std::string_view text) { return to_text(s, r).find(text) != std::string::npos; };
  BOOST_TEST(says("bottleneck: not known (client 92 %); --server-pid"));
  BOOST_TEST(to_json(s, r).at("bottleneck").is_null());
  r.server_utilization = 0.5;
  BOOST_TEST(says("bottleneck: none (client 92 %, server 50 %)"));
  r.server_utilization = 0.96;
  BOOST_TEST(says("bottleneck: server CPU (client 92 %, server 96 %)"));
  BOOST_TEST(!says("threads"));
  r.server_threads.assign(10, {.name = "loop", .fraction = 0.5});
  r.server_disk = {.read = 0, .written = 4096};
  BOOST_TEST(says("server's threads: loop 50 %, loop 50 %"));
  BOOST_TEST(says(", 2 more 100 % of a CPU\n"));
  BOOST_TEST(says("server's disks: 0 B read, 4,096 B written\n"));
  r.disk_utilization = 0.96;
  BOOST_TEST(says("bottleneck: disk (client 92 %, server 96 %, disk 96 %)"));
  r.disk_utilization = 0;
  r.network_utilization = 0.97;
  BOOST_TEST(says("bottleneck: network"));
  r.network_utilization = 0.3;
  r.client_cpu_s = 3.9;
  BOOST_TEST(says("bottleneck: client CPU"));
  BOOST_TEST(to_json(s, r).at("bottleneck").as_string() == "client_cpu");
  BOOST_TEST(to_json(s, r).at("client_cpu_fraction").as_double() > 0.95);
}

BOOST_AUTO_TEST_CASE(the_server_and_lo_are_looked_at) {
  const running_echo server("epoll");
  auto s = brief(server.port());
  s.server = ::getpid();  // client and server are one process here
  const load_result r = run_load(s);
  BOOST_TEST(r.server_utilization.value() > 0);
  BOOST_TEST(r.server_utilization.value() <= 1);
  BOOST_TEST(r.machine_utilization.value() <= 1);
  BOOST_TEST_REQUIRE(r.network.has_value());
  BOOST_TEST(r.network->interface == "lo");
  const auto requests = static_cast<double>(r.requests);
  BOOST_TEST(r.network->packets >= 1.9 * requests);  // other programs may have sent more
  BOOST_TEST(r.network->bytes >= 1.9 * 60 * requests);
  BOOST_TEST(to_text(s, r).find("lo: ") != std::string::npos);
  BOOST_TEST(to_json(s, r).at("interface").as_string() == "lo");
  BOOST_TEST_REQUIRE(r.server_threads.size() >= 2u);  // somebody serves, somebody asks
  BOOST_TEST(r.server_threads.front().fraction >= r.server_threads.back().fraction);
  BOOST_TEST(r.server_threads.front().fraction > 0);
  BOOST_TEST(to_text(s, r).find("server's threads: ") != std::string::npos);
  BOOST_TEST(to_json(s, r).at("server_thread_cpu").as_array().size() == r.server_threads.size());
  BOOST_TEST(to_json(s, r).at("server_written_bytes").is_double());
}

BOOST_AUTO_TEST_CASE(an_early_end_keeps_what_was_measured) {
  const running_echo server("epoll");
  auto s = brief(server.port());
  s.duration = 60s;
  const unique_fd stop(::eventfd(0, 0));
  load_observer watch;
  watch.stop_fd = stop.get();
  watch.progress_interval = 100ms;
  watch.progress = [&](const load_progress& p) {
    if (!p.warming && p.requests > 0) ::eventfd_write(stop.get(), 1);
  };
  const load_result r = run_load(s, watch);
  BOOST_TEST(r.interrupted);
  BOOST_TEST(r.requests > 0u);
  BOOST_TEST(r.seconds() < 30);
  BOOST_TEST(to_json(s, r).at("interrupted").as_bool());
}

BOOST_AUTO_TEST_SUITE_END()
