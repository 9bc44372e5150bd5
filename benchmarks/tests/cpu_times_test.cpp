// SPDX-License-Identifier: BSL-1.0
// cpu_times_test.cpp: CPU time of threads and of the machine, and how near a server is to its limit.
#include "load/clock.hpp"
#include "load/server_sample.hpp"

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>

using namespace quintet::bench;

namespace {

void be_busy(double seconds) {
  const double begun = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begun < seconds) {
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_times)

BOOST_AUTO_TEST_CASE(what_a_thread_has_used_is_its_own) {
  const auto before = sample_server(::getpid()).value().threads;
  const auto machine_before = read_machine_seconds();
  be_busy(0.1);
  const auto after = sample_server(::getpid()).value().threads;
  const auto me = ::gettid();
  BOOST_TEST_REQUIRE(before.contains(me));
  BOOST_TEST(after.at(me) - before.at(me) >= 0.09);
  BOOST_TEST(read_machine_seconds().busy > machine_before.busy);
}

BOOST_AUTO_TEST_CASE(children_belong_to_a_process) {
  if (!std::filesystem::exists("/proc/thread-self/children")) {
    std::cout << "skipped: this kernel does not tell a process's children\n";
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  BOOST_TEST(sample_server(::getpid()).value().threads.contains(child));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(!sample_server(child).has_value());  // gone
}

BOOST_AUTO_TEST_CASE(a_server_is_at_its_limit_with_one_busy_thread_or_with_all_its_cpus_busy) {
  const pid_t me = ::getpid();
  BOOST_TEST(utilization_of(me, {{1, 5.0}, {2, 7.0}}, {{1, 6.9}, {2, 7.0}}, 2.0) == 0.95,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(utilization_of(me, {{1, 5.0}}, {{2, 1.0}}, 2.0) == 0.5);  // a thread that has come
  BOOST_TEST(utilization_of(me, {}, {{1, 9.0}}, 2.0) == 1.0);          // more than the time: a moment's difference
  cpu_set_t set;
  BOOST_REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  thread_seconds many;
  for (int thread = 0; thread < 10 * CPU_COUNT(&set); ++thread) many[thread] = 0.1;
  BOOST_TEST(utilization_of(me, {}, many, 1.0) == 1.0, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(threads_have_their_names_and_the_busiest_comes_first) {
  const pid_t me = ::gettid();
  const auto found = busiest_threads({{me, 1.0}, {0x3fffffff, 1.0}}, {{me, 2.0}, {0x3fffffff, 2.5}}, 2.0);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].fraction == 0.75);
  BOOST_TEST(found[0].name.empty());  // gone
  BOOST_TEST(found[1].fraction == 0.5);
  char name[16];
  BOOST_REQUIRE(::pthread_getname_np(::pthread_self(), name, sizeof name) == 0);
  BOOST_TEST(found[1].name == name);
}

BOOST_AUTO_TEST_SUITE_END()
