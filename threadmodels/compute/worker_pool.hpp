// SPDX-License-Identifier: BSL-1.0
// worker_pool: threads that run work_items; more of them when work waits too long, fewer when they have been idle.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/work/spin_budget.hpp"
#include "../../base/work/work_item.hpp"
#include "cost_limit.hpp"
#include "elastic_policy.hpp"
#include "model_statistics.hpp"
#include "per_loop.hpp"
#include "pool_entrance.hpp"
#include "queue_ages.hpp"
#include "thread_options.hpp"

#include <boost/intrusive/list.hpp>

#include <array>
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

class post_batch;

/// Items run in the order in which they were submitted, each on some worker; an item is a connection's baton, so what
/// belongs to one connection never runs twice at a time, and there are never more items than connections.
///
/// The expensive part of a handoff is waking threads, so cheap items wake as few as can be. A loop gathers them until
/// the end of its turn, an awake worker runs them one after the other, and returns the batons together. An item is
/// cheap if its cost is known, and at most `threshold`. Any other item is expensive: it goes at once, and to a worker
/// of its own as long as there is one. So do those behind an item that was taken for cheap and is not: when more come,
/// or some milliseconds later.
///
/// Of the idle workers the one that was busy last is woken first: its caches are warm, and those that are not needed
/// stay idle, and leave. When the pool grows, shrinks, and sheds, elastic_policy decides. While work waits and nobody
/// is free, the loops that have submitted it look after it (pool_entrance); a pool has no thread for that.
class worker_pool {
 public:
  /// After so long a worker that is still at the same cheap item counts as busy, if loops bring more.
  static constexpr std::chrono::microseconds long_for_cheap{200};
  static constexpr unsigned cheap_share = 64;     ///< cheap items for which one awake worker is enough
  static constexpr unsigned most_decisions = 64;  ///< that statistics() remembers
  static constexpr unsigned most_shed = 256;      ///< by a loop at once, when all workers are stuck

  /// Throws std::system_error where the system has no threads for `limits.min`.
  explicit worker_pool(const worker_limits& limits, duration threshold = offload_options().threshold);
  /// stop().
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// [any thread] Queues the item: on a loop's thread by the loop's pool_entrance. Never allocates unless it starts a
  /// thread; when the system refuses one, those that run do the work.
  void submit(work_item& item) noexcept;
  /// Runs what is queued, then joins all workers. Nothing may be submitted any more.
  void stop() noexcept;
  /// [any thread]
  [[nodiscard]] std::size_t threads() const;
  [[nodiscard]] worker_statistics statistics() const;

 private:
  friend class pool_entrance;
  // Not destroyed before the pool: who calls one may come a moment after it has left.
  struct worker : boost::intrusive::list_base_hook<> {
    std::thread thread;
    std::condition_variable wake;
    bool called = false;           // there is something to do; it is not among the idle ones any more
    bool runs_cheap = false;       // an item that is taken for cheap
    bool stuck = false;            // the same, for too long: it counts as busy
    post_batch* batons = nullptr;  // that it keeps
    std::uint64_t finished = 0;    // items
    std::uint64_t seen = 0;        // of these, when somebody last looked
  };
  using worker_list = std::list<worker>;
  enum class watched : bool { no, yes };  // whether a loop will look after what was submitted

  [[nodiscard]] bool is_cheap(const work_item& item) const noexcept { return limit_.is_cheap(item.cost()); }
  duration take(work_fifo& items, unsigned count, bool cheap, time_point now, watched by_loop) noexcept;
  void look_at_workers() noexcept;
  duration look_after_work(time_point now) noexcept;
  worker* call_one_more(time_point now, watched by_loop) noexcept;
  [[nodiscard]] duration look_again_in() const noexcept;

  // Growing, and giving up (worker_pool_growth.cpp).
  [[nodiscard]] duration oldest(time_point now) const noexcept;
  [[nodiscard]] bool may_grow() const noexcept { return workers_.size() < limits_.max; }
  [[nodiscard]] bool may_shrink() const noexcept {
    return workers_.size() > limits_.min && policy_.may_leave(clock::system().now());
  }
  [[nodiscard]] bool has_all_there_can_be() const noexcept { return !may_grow() || refused_; }
  void consider_growth(time_point now, watched by_loop) noexcept;
  void grow(worker_event why, time_point now) noexcept;
  void judge_wait(work_item& item, time_point since, time_point now) noexcept;
  void take_late_ones(work_fifo& late, time_point now) noexcept;
  void note(worker_event what, time_point now) noexcept;

  // The threads.
  void start_worker();
  void work(worker_list::iterator self, unsigned number);
  void leave(worker_list::iterator self, std::unique_lock<std::mutex>& lock);
  void run_next(worker& self, std::unique_lock<std::mutex>& lock) noexcept;
  work_item& pop_next(worker& self) noexcept;
  bool sleep(worker& self, std::unique_lock<std::mutex>& lock, std::minstd_rand& random);
  bool wait_for_work(worker& self, std::unique_lock<std::mutex>& lock, spin_budget& spin, std::minstd_rand& random);
  bool spin_for_work(std::unique_lock<std::mutex>& lock, spin_budget& spin);
  [[nodiscard]] std::size_t free_and_awake() const noexcept { return workers_.size() - idle_.size() - busy_; }

  const worker_limits limits_;
  const cost_limit limit_;
  mutable std::mutex mutex_;
  worker_list workers_, left_, spare_;   // left_: have ended, or are about to, and are still to be joined
  boost::intrusive::list<worker> idle_;  // asleep, and not called; the last one that was busy first
  work_fifo queue_;
  queue_ages ages_;
  std::atomic<std::size_t> pending_{0};  // items in the queue; written under the lock
  std::size_t pending_long_ = 0;         // of these, the expensive ones
  unsigned busy_ = 0;                    // workers that run an expensive item, or one that was taken for cheap
  unsigned next_number_ = 0;
  elastic_policy policy_;
  worker_statistics count_;
  std::array<worker_decision, most_decisions> decisions_{};
  std::uint64_t decided_ = 0;
  time_point looked_at_{};  // at the workers
  time_point begun_at_{};   // when a worker last began an expensive item, or work came that nobody waited with
  time_point judged_{};     // the age of the last item that was looked at
  bool refused_ = false;    // by the system, the last thread that was wanted
  bool spinning_ = false;   // one of those that are awake has nothing to do yet
  std::atomic<bool> stopping_{false};
  per_loop<pool_entrance> entrances_;
};

}  // namespace quintet
