// SPDX-License-Identifier: BSL-1.0
// pool_stopping_test: a pool that has grown stops without memory. Its counters can be read afterwards.
// ctest: NOT_UNDER thread
#include <quintet/threadmodels/compute/compute.hpp>

#include "failing_new.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <limits>
#include <semaphore>

namespace quintet::test {
namespace {

/// Keeps a worker busy until the test lets it end.
struct waiting_item : work_item {
  waiting_item() noexcept : work_item(&waiting_item::run) {}
  static void run(work_item& item) noexcept {
    auto& self = static_cast<waiting_item&>(item);
    self.begun.release();
    self.ends.acquire();
  }
  std::binary_semaphore begun{0}, ends{0};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_pool_that_has_grown_stops_without_memory) {
  run_pooled pooled({.min = 1, .max = 2, .queue_latency = duration::zero()});
  pooled.start();
  waiting_item first, second;
  pooled.run(first);
  first.begun.acquire();
  pooled.run(second);  // the pool has no thread for it yet
  second.begun.acquire();
  first.ends.release();
  second.ends.release();
  allocations.fail_number(1, std::numeric_limits<int>::max());
  pooled.stop();
  allocations.disarm();
  BOOST_TEST(!allocations.fired());
  const worker_statistics now = pooled.workers();
  BOOST_TEST(now.threads == 0U);
  BOOST_TEST(now.grown() == 1U);
  BOOST_TEST(now.decisions.size() == 1U);
}

}  // namespace quintet::test
