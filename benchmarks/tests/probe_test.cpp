// SPDX-License-Identifier: BSL-1.0
// probe_test.cpp: the permutation is one cycle, and each probe gives a time; the samples of a process are its own.
#include "load/clock.hpp"
#include "load/server_sample.hpp"
#include "options.hpp"
#include "probe/chase.hpp"
#include "probe/median.hpp"
#include "probe/two_threads.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <vector>

using namespace quintet::bench;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(probe)

BOOST_AUTO_TEST_CASE(a_random_cycle_visits_each_element_once_before_it_closes) {
  for (const std::size_t count : {2UL, 3UL, 7UL, 1000UL}) {
    const auto next = random_cycle(count, count);
    std::vector<bool> seen(count, false);
    std::size_t at = 0;
    for (std::size_t step = 0; step < count; ++step) {
      BOOST_TEST_REQUIRE(!seen[at]);
      seen[at] = true;
      at = next[at];
    }
    BOOST_TEST(at == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_random_cycle_is_not_the_order_of_addresses) {
  const auto next = random_cycle(1000, 1);
  std::size_t neighbours = 0;
  for (std::size_t i = 0; i < next.size(); ++i) neighbours += next[i] == i + 1;
  BOOST_TEST(neighbours < 20u);
  BOOST_TEST((next != random_cycle(1000, 2)));
  BOOST_TEST((next == random_cycle(1000, 1)));
}

BOOST_AUTO_TEST_CASE(the_median_ignores_an_outlier) {
  BOOST_TEST(median({3, 1, 1000}) == 3);
  BOOST_TEST(median({}) == 0);
}

BOOST_AUTO_TEST_CASE(loads_and_passes_take_time) {
  pointer_chase small(16 << 10, 1);
  BOOST_TEST(small.lines() == 256u);
  BOOST_TEST(small.measure(10ms) > 0);
  const auto cpus = allowed_cpus();
  if (cpus.size() < 2) {
    std::cout << "skipped: a line moves between two CPUs, and there is one\n";
    return;
  }
  BOOST_TEST(measure_ping_pong(cpus[0], cpus[1], 10ms) > 0);
  for (const auto how : {doorbell_wait::read, doorbell_wait::epoll}) {
    const histogram trips = measure_doorbell(cpus[0], cpus[1], how, 10ms);
    BOOST_TEST(trips.total() > 0u);
    BOOST_TEST(trips.percentile(50) > 0u);
  }
  const auto found = count_side_by_side({cpus[0], cpus[1], 200'000}, counter_layout::padded);
  BOOST_TEST(found.ns > 0);
  BOOST_TEST(found.increments >= 400'000u);
}

BOOST_AUTO_TEST_CASE(a_sample_has_the_cpu_time_of_its_process_and_none_of_one_that_has_ended) {
  const auto before = sample_server(::getpid());
  BOOST_TEST_REQUIRE(before.has_value());
  const double until = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + 0.03;  // other programs may have most of the time
  while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < until) pointer_chase(1 << 20, 1).measure(5ms);
  const auto after = sample_server(::getpid());
  BOOST_TEST_REQUIRE(after.has_value());
  const auto used = use_between(*before, *after);
  BOOST_TEST(used.cpu_s > 0.01);
  BOOST_TEST(used.threads >= 1);
  BOOST_TEST(used.rss_bytes > 1e6);
  BOOST_TEST(used.switches.has_value());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(!sample_server(child).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
