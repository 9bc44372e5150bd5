// SPDX-License-Identifier: BSL-1.0
// worker_pool_test: the pool grows while work waits, shrinks when it is idle, and ends with every thread joined.
#include <quintet/threadmodels/worker_pool.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

using namespace std::chrono_literals;

namespace {

struct job : quintet::work_item {
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
  void submit(quintet::worker_pool& pool, int count, std::chrono::milliseconds time) {
    for (int i = 0; i < count; ++i) pool.submit(all.emplace_back(done, time));
  }
};

BOOST_AUTO_TEST_CASE(a_fixed_pool_has_its_threads_from_the_start) {
  quintet::worker_pool pool({3, 3});
  BOOST_TEST(pool.threads() == 3U);
}

BOOST_AUTO_TEST_CASE(what_is_queued_runs_before_the_pool_ends) {
  for (int round = 0; round < 200; ++round) {
    jobs j;
    {
      quintet::worker_pool pool({1, 4});
      j.submit(pool, 20, 0ms);
    }
    BOOST_REQUIRE_EQUAL(j.done, 20);
  }
}

BOOST_AUTO_TEST_CASE(it_grows_while_work_waits_and_shrinks_when_idle) {
  jobs j;
  quintet::worker_pool pool({1, 4});
  j.submit(pool, 2, 100ms);
  BOOST_TEST(pool.threads() == 2U);
  j.submit(pool, 10, 20ms);
  BOOST_TEST(pool.threads() == 4U);
  while (j.done < 12) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(quintet::worker_pool::idle_time + 500ms);
  BOOST_TEST(pool.threads() == 1U);
  j.submit(pool, 4, 50ms);
  BOOST_TEST(pool.threads() == 4U);
}

}  // namespace
