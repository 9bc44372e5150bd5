// SPDX-License-Identifier: BSL-1.0
// worker_pool: threads that run work_items; more of them when nobody is free, fewer when they have been idle for long.
#pragma once

#include <quintet/base/clock.hpp>
#include <quintet/base/spin_budget.hpp>
#include <quintet/base/work_item.hpp>
#include <quintet/net/statistics.hpp>
#include <quintet/threadmodels/pool_entrance.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <random>
#include <thread>

namespace quintet {

class homecoming;

struct worker_limits {
  unsigned min = 1;  ///< threads that are always there; at least 1
  unsigned max = 4;  ///< and that there may be; at least `min`, at least 1
  /// How long a worker looks for work before it sleeps, while that pays; one at a time. Where the process may use one
  /// CPU only, workers sleep at once.
  duration spin = duration::zero();
  /// After which a worker above `min` leaves, a tenth more or less, so that they do not all leave at once. The others
  /// sleep until there is work.
  duration idle_time = std::chrono::seconds(5);
};

/// Items run in the order in which they were submitted, each on some worker; an item is a connection's baton, so what
/// belongs to one connection never runs twice at a time.
///
/// What makes a hand-over dear is waking threads, so quick items (work_item::is_quick) wake as few as can be: a loop
/// gathers them until the end of its turn, an awake worker takes them one after the other, and sends the batons home
/// together. An item that is not known to be quick goes at once, and to a worker of its own as long as there is one. So
/// do those behind an item that was taken for quick and is not: when more come, or some milliseconds later.
class worker_pool {
 public:
  /// After so long a worker that is still at the same quick item counts as busy, if loops bring more.
  static constexpr std::chrono::microseconds long_for_quick{200};
  static constexpr unsigned quick_share = 64;  ///< quick items for which one awake worker is enough

  explicit worker_pool(worker_limits limits);
  /// stop().
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// [any thread] Never allocates unless it starts a thread; when the system refuses one, those that run do the work.
  void submit(work_item& item) noexcept;
  /// Runs what is queued, then joins all workers. Nothing may be submitted any more.
  void stop() noexcept;
  /// [any thread]
  [[nodiscard]] std::size_t threads() const { return statistics().threads; }
  [[nodiscard]] worker_statistics statistics() const;

 private:
  friend class pool_entrance;
  struct worker {
    std::thread thread;
    bool runs_quick = false;       // an item that is taken for quick
    bool stuck = false;            // the same, for too long: it counts as busy
    homecoming* batons = nullptr;  // that it keeps
    std::uint64_t finished = 0;    // items
    std::uint64_t seen = 0;        // of these, when somebody last looked
  };
  using worker_list = std::list<worker>;

  pool_entrance* entrance_of(event_loop& loop) noexcept;

  bool take(work_fifo& items, unsigned count, bool quick, time_point now) noexcept;
  void look_at_workers() noexcept;
  bool look_after_workers() noexcept;
  bool call_one_more() noexcept;
  void start_worker();
  void grow() noexcept;
  void work(worker_list::iterator self, unsigned number);
  void run(work_item& item, worker& self, std::unique_lock<std::mutex>& lock) noexcept;
  bool sleep(std::unique_lock<std::mutex>& lock, duration stay);
  bool wait_for_work(std::unique_lock<std::mutex>& lock, spin_budget& spin, std::minstd_rand& random);
  bool spin_for_work(std::unique_lock<std::mutex>& lock, spin_budget& spin);
  [[nodiscard]] std::size_t free_and_awake() const noexcept { return workers_.size() - idle_ - busy_ + woken_; }

  const worker_limits limits_;
  const std::uint64_t number_;  // of all pools there have been
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  worker_list workers_, left_;  // left_: have ended, or are about to, and are still to be joined
  work_fifo queue_;
  std::atomic<std::size_t> pending_{0};  // items in the queue; written under the lock
  std::size_t pending_long_ = 0;         // of these, those not known to be quick
  unsigned idle_ = 0;                    // workers that wait
  unsigned busy_ = 0;                    // workers that run an item that is not known to be quick, or was not
  unsigned woken_ = 0;                   // idle workers that have been notified and are not awake yet
  unsigned next_number_ = 0;
  unsigned residents_ = 0;  // of the idle ones, those who sleep until there is work
  worker_statistics count_;
  time_point looked_at_{};  // at the workers
  bool spinning_ = false;   // one of those that are awake has nothing to do yet
  std::atomic<bool> stopping_{false};
  std::list<pool_entrance> entrances_;  // few, and found again without looking here
};

}  // namespace quintet
