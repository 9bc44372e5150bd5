// SPDX-License-Identifier: BSL-1.0
// pool_set: the pool that all loops share, or a pool for each loop.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/work/work_item.hpp"
#include "model_statistics.hpp"
#include "per_loop.hpp"
#include "thread_options.hpp"
#include "worker_pool.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace quintet {

/// With a pool for each loop, the first batch of a loop makes its pool. A loop whose pool cannot be made, because the
/// system refuses the threads, uses the first pool. Pools live as long as this object: do not combine it with a
/// placement that makes a loop for each connection.
class pool_set {
 public:
  pool_set(const worker_limits& limits, duration threshold, bool per_loop) noexcept
      : limits_(limits), threshold_(threshold), per_loop_(per_loop) {}

  /// Makes the first pool. Throws boost::system::system_error if the system refuses its threads.
  void start();
  /// [loop] Queues the item on the pool of the loop that runs, or on the first pool outside of loops.
  void submit(work_item& item) noexcept { pool_of_this_loop().submit(item); }
  /// Joins the threads of all pools, after all loops have stopped. The pools stay, with their counters.
  void stop() noexcept;
  /// [any thread] Returns the sum over all pools; all 0 before start().
  [[nodiscard]] worker_statistics statistics() const;

 private:
  /// The pool of one loop.
  struct claim {
    explicit claim(pool_set& set) : pool(set.next_pool()) {}
    worker_pool* pool;
  };
  worker_pool* next_pool();
  [[nodiscard]] worker_pool& pool_of_this_loop() noexcept {
    if (!per_loop_) [[likely]]
      return *first_;
    return own_pool();
  }
  [[nodiscard]] worker_pool& own_pool() noexcept;

  const worker_limits limits_;
  const duration threshold_;
  const bool per_loop_;
  worker_pool* first_ = nullptr;  // written by start(), before loops run
  bool first_is_claimed_ = false;
  mutable std::mutex mutex_;  // guards pools_: any thread may call statistics() while a loop makes its pool
  std::vector<std::unique_ptr<worker_pool>> pools_;
  per_loop<claim> of_loop_;
};

}  // namespace quintet
