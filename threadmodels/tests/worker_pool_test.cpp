// SPDX-License-Identifier: BSL-1.0
// worker_pool_test: the pool grows while work waits, shrinks when it is idle, and joins every thread at its end.
#include <quintet/threadmodels/compute/worker_pool.hpp>

#include "waiting.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

using namespace std::chrono_literals;

namespace quintet::test {
namespace {

struct job : work_item {
  job(std::atomic<int>& count, std::chrono::milliseconds t) : work_item(&job::run), done(count), time(t) {}
  static void run(work_item& item) noexcept {
    auto& self = static_cast<job&>(item);
    std::this_thread::sleep_for(self.time);
    ++self.done;
  }
  std::atomic<int>& done;
  std::chrono::milliseconds time;
};

struct jobs {
  std::atomic<int> done{0};
  std::deque<job> all;
  void submit(worker_pool& pool, int count, std::chrono::milliseconds time) {
    for (int i = 0; i < count; ++i) pool.submit(all.emplace_back(done, time));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_fixed_pool_has_its_threads_from_the_start) {
  worker_pool pool({3, 3});
  BOOST_TEST(pool.threads() == 3U);
}

BOOST_AUTO_TEST_CASE(what_is_queued_runs_before_the_pool_ends) {
  for (int round = 0; round < 200; ++round) {
    jobs j;
    {
      worker_pool pool({1, 4});
      j.submit(pool, 20, 0ms);
    }
    BOOST_REQUIRE_EQUAL(j.done, 20);
  }
}

BOOST_AUTO_TEST_CASE(it_grows_while_work_waits_and_shrinks_when_idle) {
  jobs j;
  worker_pool pool({.min = 1, .max = 4, .idle_time = 50ms});
  j.submit(pool, 2, 100ms);
  BOOST_TEST(pool.threads() == 2U);
  j.submit(pool, 10, 20ms);
  BOOST_TEST(pool.threads() == 4U);
  BOOST_TEST(pool.statistics().grown() == 3U);
  BOOST_TEST(eventually([&] { return j.done == 12; }));
  BOOST_TEST(eventually([&] { return pool.threads() == 1; }));
  BOOST_TEST(pool.statistics().left_idle == 3U);
  BOOST_TEST(pool.statistics().refused == 0U);
  j.submit(pool, 4, 50ms);
  BOOST_TEST(pool.threads() == 4U);
}

// Only as many workers leave as are above the minimum, whichever were woken.
BOOST_AUTO_TEST_CASE(it_comes_back_to_its_minimum_from_any_load) {
  for (unsigned min = 1; min <= 3; ++min) {
    jobs j;
    worker_pool pool({.min = min, .max = 6, .idle_time = 5ms});
    for (int round = 0; round < 10; ++round) {
      j.submit(pool, 6, 1ms);
      BOOST_TEST(eventually([&] { return j.done == 6 * (round + 1); }));
    }
    BOOST_TEST(eventually([&] { return pool.threads() == min; }));
    BOOST_TEST(pool.statistics().grown() == pool.statistics().left_idle);
  }
}

BOOST_AUTO_TEST_CASE(after_stop) {
  jobs j;
  worker_pool pool({2, 2});
  j.submit(pool, 5, 0ms);
  pool.stop();
  BOOST_TEST(j.done == 5);
  BOOST_TEST(pool.statistics().threads == 0U);
}

}  // namespace quintet::test
