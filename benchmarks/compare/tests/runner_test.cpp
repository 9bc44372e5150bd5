// SPDX-License-Identifier: BSL-1.0
// runner_test.cpp: a run measures both processes, and a process that misbehaves costs that run only.
#include "compare/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "compare/child_process.hpp"
#include "compare/syscall_counter.hpp"

namespace quintet::bench {

using namespace std::chrono_literals;

static run_result run_with(const std::string& model, std::string_view workload = "echo", unsigned round = 1) {
  compare_settings s;
  s.program = QUINTET_STAND_IN;
  s.workloads = parse_workloads(workload);
  s.duration = 200ms;
  s.warm_up = 50ms;
  return perform(s, {&s.workloads[0], {.model = model}, round});
}

BOOST_AUTO_TEST_CASE(a_run_has_the_figures_of_both_sides) {
  const auto r = run_with("single_reactor");
  BOOST_TEST_REQUIRE(!r.error.has_value(), r.error.value_or(""));
  BOOST_TEST(r.workload == "echo");
  BOOST_TEST(r.requests.value() == 1000);
  BOOST_TEST(r.connections.value() == 100);
  BOOST_TEST(r.server_cpu_us_per_request.value() >= 0);
  BOOST_TEST(r.server_threads.value() == 1);
  BOOST_TEST(r.server_rss_bytes.value() > 0);
  BOOST_TEST(r.context_switches_per_request.has_value());
  BOOST_TEST(!r.syscalls_per_request.has_value());  // only the counting pass knows
  BOOST_TEST(!r.server_cpus.empty());
}

BOOST_AUTO_TEST_CASE(heartbeats_go_to_the_priority_port) {
  BOOST_TEST(run_with("reactor_pool", "heartbeat").heartbeat_p99_us.value() == 77);
}

BOOST_AUTO_TEST_CASE(a_server_that_fails_is_quoted) {
  BOOST_TEST(run_with("dies_at_once").error.value() == "the server ended with status 3: bind: Address already in use");
  BOOST_TEST(run_with("dies_later").error.value().find("signal 11") != std::string::npos);
  BOOST_TEST(!run_with("dies_later").requests_per_s.has_value());
}

BOOST_AUTO_TEST_CASE(a_client_that_fails_is_quoted) {
  BOOST_TEST(run_with("starves_client").error.value() == "the client ended with status 1: not one reply");
}

BOOST_AUTO_TEST_CASE(a_program_that_does_not_exist_is_named) {
  BOOST_CHECK_EXCEPTION(child_process("the server", {"/nonexistent/program"}), run_error, [](const run_error& e) {
    return std::string(e.what()).find("/nonexistent/program") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_silent_child_meets_a_deadline_and_is_stopped) {
  pid_t pid = 0;
  {
    child_process child("sleep", {"/bin/sleep", "30"});
    pid = child.pid();
    BOOST_CHECK_THROW(child.read_line(child_process::clock::now() + 50ms), run_error);
  }
  BOOST_TEST(!std::filesystem::exists("/proc/" + std::to_string(pid)));
}

/// Of a shell that waits for a line before it begins, and once more when it is done, so that all its calls are between.
template <class Counter>
static std::uint64_t calls_of_a_script() {
  int in[2];
  BOOST_REQUIRE(::pipe(in) == 0);
  const unique_fd read_end(in[0]), write_end(in[1]);
  child_process shell("sh",
                      {"/bin/sh", "-c",
                       fmt::format("read go < /proc/{}/fd/{}; for i in 1 2 3 4 5 6 7 8 9; do : < /dev/null; done; "
                                   "/bin/true; echo done; exec sleep 30",
                                   ::getpid(), read_end.get())});
  const Counter counter(shell.pid());
  const auto before = counter.read();
  BOOST_TEST(::write(write_end.get(), "\n", 1) == 1);
  shell.await_line("done", child_process::clock::now() + 10s);
  return counter.read().all - before.all;
}

BOOST_AUTO_TEST_CASE(system_calls_are_counted_where_that_is_permitted) {
  if (!syscall_counter::obstacle().empty()) {
    BOOST_TEST_MESSAGE("not permitted here: " << syscall_counter::obstacle());
    return;
  }
  const auto made = calls_of_a_script<syscall_counter>();
  BOOST_TEST(made > 20u);  // nine times open and close and more, and those of children that came later
  BOOST_TEST(made < 500u);
  const auto r = run_with("single_reactor", "echo", 0);
  BOOST_TEST(r.syscalls_per_request.has_value());
}

BOOST_AUTO_TEST_CASE(strace_counts_the_same_where_it_may) {
  if (!strace_counter::obstacle().empty()) {
    BOOST_TEST_MESSAGE("not permitted here: " << strace_counter::obstacle());
    return;
  }
  const auto made = calls_of_a_script<strace_counter>();
  BOOST_TEST(made > 20u);  // nine times open and close and more
  BOOST_TEST(made < 500u);
}

}  // namespace quintet::bench
