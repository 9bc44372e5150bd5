// SPDX-License-Identifier: BSL-1.0
// worker_pool: threads that run work_items; more of them when nobody is free, fewer when they have been idle for long.
#pragma once

#include <quintet/base/work_item.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <thread>

namespace quintet {

struct worker_limits {
  unsigned min = 1;  ///< threads that are always there; at least 1
  unsigned max = 4;  ///< and that there may be; at least `min`, at least 1
};

/// Items run in the order in which they were submitted, each on some worker; an item is a connection's baton, so what
/// belongs to one connection never runs twice at a time.
class worker_pool {
 public:
  static constexpr std::chrono::milliseconds idle_time{5000};  ///< after which a worker above `min` leaves

  explicit worker_pool(worker_limits limits);
  /// Runs what is queued, then joins all workers.
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// [any thread] Never allocates unless it starts a thread; when the system refuses one, those that run do the work.
  void submit(work_item& item) noexcept;
  /// [any thread]
  [[nodiscard]] std::size_t threads() const;

 private:
  using thread_list = std::list<std::thread>;

  void start_worker();
  bool grow() noexcept;
  void work(thread_list::iterator self, unsigned number);
  void stop() noexcept;
  bool wait_for_work(std::unique_lock<std::mutex>& lock);

  const worker_limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  thread_list workers_, left_;  // left_: have ended, or are about to, and are still to be joined
  work_fifo queue_;
  std::size_t pending_ = 0;  // items in the queue
  unsigned idle_ = 0;        // workers that wait
  unsigned busy_ = 0;        // workers that run an item
  unsigned woken_ = 0;       // idle workers that have been notified and are not awake yet
  unsigned next_number_ = 0;
  bool stopping_ = false;
};

}  // namespace quintet
