// SPDX-License-Identifier: BSL-1.0
// pinning_test: threads that a pinned loop starts.
#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/loop/loop_thread.hpp>
#include <quintet/net/watch/thread_name.hpp>

#include <boost/test/unit_test.hpp>

#include <future>
#include <utility>

#include <pthread.h>
#include <sched.h>

namespace quintet::test {
namespace {

int cpus_of_this_thread() {
  cpu_set_t all;
  return ::pthread_getaffinity_np(::pthread_self(), sizeof all, &all) == 0 ? CPU_COUNT(&all) : -1;
}

int first_cpu() {
  cpu_set_t all;
  BOOST_TEST_REQUIRE(::pthread_getaffinity_np(::pthread_self(), sizeof all, &all) == 0);
  int cpu = 0;
  while (!CPU_ISSET(static_cast<unsigned>(cpu), &all)) ++cpu;
  return cpu;
}

// A pool's worker or a look-up would compete with the loop that has started it, beside idle CPUs.
BOOST_AUTO_TEST_CASE(threads_of_a_pinned_loop_have_all_cpus) {
  event_loop loop(make_default_engine(), clock::system(), {.cpu = first_cpu()});
  const loop_thread thread(loop, "pinned");
  std::promise<std::pair<int, int>> found;
  loop.post([&found] {
    const int here = cpus_of_this_thread();
    int there = 0;
    start_thread("started", [&there] { there = cpus_of_this_thread(); }).join();
    found.set_value({here, there});
  });
  const auto [here, there] = found.get_future().get();
  BOOST_TEST(here == 1);
  BOOST_TEST(there == cpus_of_this_thread());
  loop.stop();
}

}  // namespace
}  // namespace quintet::test
