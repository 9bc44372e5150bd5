// SPDX-License-Identifier: BSL-1.0
// pool_set: makes, sums and stops the pools.
#include "pool_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace quintet {
namespace {

void add(worker_statistics& sum, worker_statistics one) {
  for (const auto figure :
       {&worker_statistics::threads, &worker_statistics::wakes, &worker_statistics::grown_at_once,
        &worker_statistics::grown_for_latency, &worker_statistics::grown_when_stuck, &worker_statistics::left_idle,
        &worker_statistics::refused, &worker_statistics::overloads, &worker_statistics::shed})
    sum.*figure += one.*figure;
  sum.longest_wait_ns = std::max(sum.longest_wait_ns, one.longest_wait_ns);
  const std::vector<worker_decision> before = std::exchange(sum.decisions, {});
  sum.decisions.reserve(before.size() + one.decisions.size());
  std::ranges::merge(before, one.decisions, std::back_inserter(sum.decisions), {}, &worker_decision::when,
                     &worker_decision::when);
}

}  // namespace

void pool_set::start() {
  auto pool = std::make_unique<worker_pool>(limits_, threshold_);
  first_ = pool.get();
  const std::lock_guard lock(mutex_);
  pools_.push_back(std::move(pool));
}

// The first loop that asks gets the pool of start(), so that no pool is idle for ever.
worker_pool* pool_set::next_pool() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(first_is_claimed_, true)) return first_;
  }
  auto pool = std::make_unique<worker_pool>(limits_, threshold_);
  const std::lock_guard lock(mutex_);
  pools_.push_back(std::move(pool));
  return pools_.back().get();
}

worker_pool& pool_set::own_pool() noexcept {
  event_loop* const loop = event_loop::current();
  const claim* const own = loop ? of_loop_.of(*loop, *this) : nullptr;
  return own ? *own->pool : *first_;
}

// Does not hold the lock while threads are joined: the handler that one of them runs may call statistics().
void pool_set::stop() noexcept {
  for (std::size_t i = 0;; ++i) {
    worker_pool* pool = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (i == pools_.size()) return;
      pool = pools_[i].get();
    }
    pool->stop();
  }
}

worker_statistics pool_set::statistics() const {
  worker_statistics sum;
  const std::lock_guard lock(mutex_);
  for (const auto& pool : pools_) add(sum, pool->statistics());
  return sum;
}

}  // namespace quintet
