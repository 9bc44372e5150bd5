// SPDX-License-Identifier: BSL-1.0
// compute: where handlers run. One half of a threading model.
#pragma once

#include "worker_pool.hpp"

#include <memory>
#include <mutex>

namespace quintet {

/// On the loop that read the input.
struct run_inline {
  static constexpr bool runs_inline = true;
  void start() noexcept {}
  void run(work_item& item) noexcept { item(); }
  void stop() noexcept {}
};

/// On a pool of threads: fixed when min == max, elastic otherwise.
class run_pooled {
 public:
  static constexpr bool runs_inline = false;
  explicit run_pooled(worker_limits limits) : limits_(limits) {}
  void start() {
    auto fresh = std::make_unique<worker_pool>(limits_);
    const std::lock_guard lock(watched_->mutex);
    pool_.swap(fresh);
    watched_->pool = pool_.get();
  }
  void run(work_item& item) noexcept {
    item.depart();
    pool_->submit(item);
  }
  /// Joins the threads. The pool itself stays, with what it has counted.
  void stop() noexcept {
    if (pool_) pool_->stop();
  }
  /// [any thread] Also before and after, when there are no threads.
  [[nodiscard]] worker_statistics workers() const {
    const std::lock_guard lock(watched_->mutex);
    return watched_->pool ? watched_->pool->statistics() : worker_statistics();
  }

 private:
  /// The pool comes with the model's threads, and others may look at any time.
  struct watched {
    std::mutex mutex;
    const worker_pool* pool = nullptr;
  };
  worker_limits limits_;
  std::unique_ptr<worker_pool> pool_;
  std::unique_ptr<watched> watched_ = std::make_unique<watched>();
};

}  // namespace quintet
