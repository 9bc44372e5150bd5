// SPDX-License-Identifier: BSL-1.0
// worker_pool: threads that run work_items. It adds threads when work waits too long, and ends idle ones.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/work/spin_budget.hpp"
#include "../../base/work/thin_mutex.hpp"
#include "../../base/work/timer_queue.hpp"
#include "../../base/work/work_item.hpp"
#include "../../net/loop/event_loop.hpp"
#include "elastic_policy.hpp"
#include "idle_workers.hpp"
#include "model_statistics.hpp"
#include "per_loop.hpp"
#include "queue_ages.hpp"
#include "thread_options.hpp"
#include "wake_semaphore.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <random>
#include <thread>

namespace quintet {

class post_batch;
class worker_pool;

/// Gathers the cheap items of a loop's turn for a pool, and checks on the loop's waiting items. Belongs to one pool and
/// one loop. Used on the loop's thread. The pool owns it, and is destroyed after the loop has stopped running.
class pool_submitter final : private work_item, private timer {
 public:
  static constexpr unsigned most = 64;  ///< items gathered; then they are handed over before the end of the turn
  /// Upper bound between a handoff and its check, and between checks. A check detects mispredicted cheap items and
  /// waiting work. A single item with its own woken worker needs none. Below 10 ms the kernel needs an extra timer.
  static constexpr duration patience = std::chrono::milliseconds(10);

  pool_submitter(worker_pool& pool, event_loop& loop) noexcept
      : work_item(&pool_submitter::turn_ends), pool_(pool), loop_(loop) {}

  /// [loop] Keeps a cheap item until the end of the turn.
  void gather(work_item& item) noexcept;
  /// [loop] Checks on the items after this time. Zero: no check is needed.
  void schedule_check(duration after) noexcept;

 private:
  static void turn_ends(work_item& item) noexcept;
  void submit_all() noexcept;
  void expired() noexcept override;

  worker_pool& pool_;
  event_loop& loop_;
  work_fifo items_;
  unsigned count_ = 0;
  bool due_ = false;
};

/// What the threads of a pool have in common.
struct worker_kind {
  const char* name = "qnt-work-";  ///< before the thread's number
  int nice = 0;                    ///< above 0: other threads come first
};

/// Workers start items in the order of the queue. An item is a connection's baton, so the work of one connection never
/// overlaps, and there are never more items than connections.
///
/// The expensive part of a handoff is waking threads, so cheap items wake as few as possible. A loop gathers them until
/// the end of its turn. An awake worker runs them one after the other, and returns their batons together. An item is
/// cheap if its cost is known and at most `threshold`.
///
/// Any other item is expensive. It is queued at once, and gets a worker of its own if one is available. So do the items
/// behind a mispredicted cheap item, when more items are submitted or some milliseconds later.
///
/// The idle worker that was busy last is woken first, because its caches are warm. Workers that are not needed stay
/// idle and end. elastic_policy decides when the pool grows, shrinks and sheds. While work waits for a free worker, the
/// loops that submitted it check on it (pool_submitter). The pool has no thread for that.
class worker_pool {
 public:
  /// The shortest time between two checks of the workers by take(). A worker that runs the same cheap item at two
  /// checks counts as busy.
  static constexpr std::chrono::microseconds check_interval{200};
  static constexpr unsigned cheap_share = 64;     ///< cheap items for which one awake worker is enough
  static constexpr unsigned most_decisions = 64;  ///< decisions that statistics() returns
  static constexpr unsigned most_shed = 256;      ///< items that a loop sheds at once when all workers are stuck

  enum class starts : bool { now, later };
  /// Calls start(), unless told not to.
  explicit worker_pool(const worker_limits& limits, duration threshold = offload_options().threshold,
                       starts when = starts::now, worker_kind kind = {});
  /// Calls stop().
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// Starts the first `limits.min` threads. Throws boost::system::system_error if the system refuses one of them.
  void start();
  /// [any thread] Queues an expensive item at once, and a cheap one of a loop at the end of the loop's turn. Allocates
  /// only for a new thread, and at the first call on a loop. If either fails, the running workers still run the item.
  void submit(work_item& item) noexcept;
  /// Waits until the workers have run all queued items, then joins them. The caller must submit nothing afterwards.
  void stop() noexcept;
  /// [any thread]
  [[nodiscard]] std::size_t threads() const;
  [[nodiscard]] worker_statistics statistics() const;

 private:
  friend class pool_submitter;
  // A worker lives as long as the pool: a thread that wakes it may do so just after it has left.
  struct worker : basic_sleeper<wake_semaphore> {
    std::thread thread;
    bool runs_cheap = false;       // it runs an item that is classified as cheap, or has expired
    bool stuck = false;            // it has run the same cheap item for too long, and counts as busy
    post_batch* batons = nullptr;  // the batons that it has not returned yet
    std::uint64_t finished = 0;    // items
    std::uint64_t seen = 0;        // `finished` at the last check
  };
  using worker_list = std::list<worker>;
  enum class supervised : bool { no, yes };  // whether a loop will check on the submitted items

  [[nodiscard]] bool is_cheap(const work_item& item) const noexcept { return cost_limit_.is_cheap(item.cost()); }
  duration take(work_fifo& items, unsigned count, bool cheap, time_point now, supervised by_loop) noexcept;
  void mark_stuck_workers() noexcept;
  duration supervise(time_point now) noexcept;
  worker* wake_one_more(time_point now, supervised by_loop) noexcept;
  [[nodiscard]] duration next_check_in() const noexcept;

  // Growing and shedding (worker_pool_growth.cpp).
  [[nodiscard]] duration oldest(time_point now) const noexcept;
  [[nodiscard]] bool may_grow() const noexcept { return workers_.size() < limits_.max; }
  [[nodiscard]] bool may_shrink() const noexcept {
    return workers_.size() > limits_.min && policy_.may_leave(clock::system().now());
  }
  [[nodiscard]] bool cannot_grow() const noexcept { return !may_grow() || refused_; }
  void consider_growth(time_point now, supervised by_loop) noexcept;
  void grow(worker_event why, time_point now) noexcept;
  void check_wait(work_item& item, time_point since, time_point now) noexcept;
  void shed_late_items(work_fifo& late, time_point now) noexcept;
  void note(worker_event what, time_point now) noexcept;

  // The threads.
  void start_worker();
  void work(worker_list::iterator self, unsigned number);
  void leave(worker_list::iterator self, std::unique_lock<thin_mutex>& lock);
  void run_next(worker& self) noexcept;
  work_item& pop_next(worker& self) noexcept;
  void begin_checked(worker& self, work_item& item, time_point since) noexcept;
  bool sleep(worker& self, std::unique_lock<thin_mutex>& lock, std::minstd_rand& random);
  bool wait_for_work(worker& self, std::unique_lock<thin_mutex>& lock, spin_budget& spin, std::minstd_rand& random);
  bool spin_for_work(std::unique_lock<thin_mutex>& lock, spin_budget& spin);
  [[nodiscard]] std::size_t available_count() const noexcept { return workers_.size() - idle_.size() - busy_; }

  const worker_kind kind_;
  const worker_limits limits_;
  const cost_limit cost_limit_;
  mutable thin_mutex mutex_;
  worker_list workers_, left_, spare_;  // left_: ended or ending, not joined yet; spare_: for reuse
  basic_idle_workers<worker> idle_;     // asleep and not called
  work_fifo queue_;
  queue_ages ages_;
  std::atomic<std::size_t> pending_{0};  // items in the queue; written under the lock
  std::size_t pending_long_ = 0;         // expensive items in the queue
  unsigned busy_ = 0;                    // workers that run an expensive or a mispredicted item
  unsigned next_number_ = 0;
  elastic_policy policy_;
  worker_statistics count_;
  std::array<worker_decision, most_decisions> decisions_{};
  std::uint64_t decided_ = 0;
  time_point checked_at_{};    // when take() last checked the workers
  time_point begun_at_{};      // when a worker last began an expensive item, or the empty queue got an item
  time_point last_checked_{};  // when the item was queued for which pop_next() last read the clock
  bool refused_ = false;       // whether the system refused the last thread
  bool spinning_ = false;      // whether a worker spins
  std::atomic<bool> stopping_{false};
  per_loop<pool_submitter> submitters_;
};

}  // namespace quintet
