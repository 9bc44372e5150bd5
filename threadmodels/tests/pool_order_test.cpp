// SPDX-License-Identifier: BSL-1.0
// pool_order_test: every submitted item runs once, in the order of submission.
#include <boost/test/unit_test.hpp>

#include "waiting.hpp"

#include <quintet/threadmodels/compute/worker_pool.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace quintet::test {
namespace {

class job final : public work_item {
 public:
  explicit job(std::function<void()> f) : work_item(&job::run), function_(std::move(f)) {}

 private:
  static void run(work_item& item) noexcept { static_cast<job&>(item).function_(); }
  std::function<void()> function_;
};

BOOST_AUTO_TEST_CASE(one_worker_runs_all_in_order) {
  std::vector<int> order;  // only the single worker writes it, until it is joined
  std::deque<job> jobs;
  {
    worker_pool pool({1, 1});
    for (int i = 0; i < 1000; ++i) pool.submit(jobs.emplace_back([&order, i] { order.push_back(i); }));
    BOOST_TEST(pool.threads() == 1u);
  }
  BOOST_REQUIRE(order.size() == 1000u);
  for (int i = 0; i < 1000; ++i) BOOST_REQUIRE(order[static_cast<std::size_t>(i)] == i);
}

BOOST_AUTO_TEST_CASE(as_many_threads_as_wait_and_no_more_than_max) {
  gate hold;
  std::deque<job> jobs;
  worker_pool pool({1, 4});
  BOOST_TEST(pool.threads() == 1u);
  for (std::size_t i = 1; i <= 4; ++i) {
    pool.submit(jobs.emplace_back([&] { hold.wait(); }));
    BOOST_REQUIRE(hold.await_waiting(i));  // the first i jobs wait, each on a thread of its own
    BOOST_TEST(pool.threads() == i);
  }
  for (int i = 0; i < 3; ++i) pool.submit(jobs.emplace_back([&] { hold.wait(); }));
  BOOST_TEST(pool.threads() == 4u);
  hold.open();
}

BOOST_AUTO_TEST_CASE(a_minimum_of_none) {
  std::atomic<bool> ran{false};
  job j([&] { ran = true; });
  worker_pool pool({0, 1});
  BOOST_TEST(pool.threads() == 0u);
  pool.submit(j);
  BOOST_TEST(eventually([&] { return ran.load(); }));
  BOOST_TEST(pool.threads() == 1u);
}

// Each job submits the next one, as a connection does whose baton goes back and forth.
BOOST_AUTO_TEST_CASE(nothing_is_lost_when_many_submit) {
  constexpr int chains = 8, length = 2000;
  worker_pool pool({1, 3});
  std::atomic<int> left{chains};
  std::deque<job> jobs;
  std::vector<int> done(chains, 0);  // each element is used by one job at a time
  for (std::size_t c = 0; c < chains; ++c) {
    jobs.emplace_back([&, c] {
      if (++done[c] < length)
        pool.submit(jobs[c]);
      else
        --left;
    });
  }
  std::vector<std::thread> starters;
  for (std::size_t c = 0; c < chains; ++c) starters.emplace_back([&, c] { pool.submit(jobs[c]); });
  for (std::thread& t : starters) t.join();
  BOOST_TEST(eventually([&] { return left == 0; }));
  for (const int d : done) BOOST_TEST(d == length);
}

// The start and end of a pool race with workers that start and leave.
BOOST_AUTO_TEST_CASE(pools_come_and_go) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 300; ++i) {
    std::deque<job> jobs;
    worker_pool pool({i % 3 == 0 ? 0u : 2u, 3});
    for (int n = 0; n < i % 5; ++n) pool.submit(jobs.emplace_back([&] { ++ran; }));
  }
  BOOST_TEST(ran == 600);
}

}  // namespace
}  // namespace quintet::test
