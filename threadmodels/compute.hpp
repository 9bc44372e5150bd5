// SPDX-License-Identifier: BSL-1.0
// compute: where handlers run. One half of a threading model.
#pragma once

#include <quintet/threadmodels/worker_pool.hpp>

#include <memory>

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
  explicit run_pooled(worker_limits limits) noexcept : limits_(limits) {}
  void start() { pool_ = std::make_unique<worker_pool>(limits_); }
  void run(work_item& item) noexcept {
    item.depart();
    pool_->submit(item);
  }
  void stop() noexcept { pool_.reset(); }

 private:
  worker_limits limits_;
  std::unique_ptr<worker_pool> pool_;
};

}  // namespace quintet
