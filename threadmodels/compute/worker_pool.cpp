// SPDX-License-Identifier: BSL-1.0
// worker_pool: the queue and the workers. There is one mutex. A worker is notified only if too few awake workers can
// run the queued items soon.
#include "worker_pool.hpp"

#include "../../net/loop/allowed_cpus.hpp"
#include "../../net/loop/post_batch.hpp"
#include "../../net/watch/thread_name.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace quintet {
namespace {

/// On a single CPU, a spinning worker would delay the threads that submit work.
bool has_several_cpus() noexcept {
  const cpu_set_t allowed = allowed_cpu_set();
  return CPU_COUNT(&allowed) != 1;
}

}  // namespace

worker_pool::worker_pool(const worker_limits& limits, duration threshold, starts when, worker_kind kind)
    : kind_(kind), limits_(limits), cost_limit_(threshold), policy_(limits) {
  if (when == starts::now) start();
}

void worker_pool::start() try {
  const std::lock_guard lock(mutex_);
  while (workers_.size() < limits_.min) start_worker();
} catch (...) {
  stop();
  throw;
}

worker_pool::~worker_pool() { stop(); }

void worker_pool::stop() noexcept {
  worker_list all;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all.splice(all.end(), workers_);
    all.splice(all.end(), left_);
  }
  for (worker& w : all) w.wake.post();
  for (worker& w : all) w.thread.join();
}

void worker_pool::submit(work_item& item) noexcept {
  event_loop* const loop = event_loop::current();
  pool_submitter* const here = loop ? submitters_.of(*loop, *this, *loop) : nullptr;
  const bool cheap = is_cheap(item);
  if (here && cheap) return here->gather(item);
  work_fifo alone;
  alone.push(item);
  // Reads the clock instead of the time of the turn: the wait of this item decides whether a thread is added.
  const time_point now = here ? loop->time().now() : clock::system().now();
  const duration check = take(alone, 1, cheap, now, here ? supervised::yes : supervised::no);
  if (here) here->schedule_check(check);
}

void pool_submitter::gather(work_item& item) noexcept {
  items_.push(item);
  if (++count_ == most) return submit_all();
  if (!std::exchange(due_, true)) loop_.defer(*this);
}

void pool_submitter::turn_ends(work_item& item) noexcept {
  auto& self = static_cast<pool_submitter&>(item);
  self.due_ = false;
  self.submit_all();
}

void pool_submitter::submit_all() noexcept {
  if (count_ == 0) return;
  schedule_check(pool_.take(items_, std::exchange(count_, 0), true, loop_.now(), worker_pool::supervised::yes));
}

void pool_submitter::schedule_check(duration after) noexcept {
  if (after == duration::zero()) return;
  if (!pending() || deadline() > loop_.now() + after) loop_.start(*this, after);
}

void pool_submitter::expired() noexcept { schedule_check(pool_.supervise(loop_.now())); }

// Queues the items. Returns after how long the loop must call supervise(). Zero: no need.
duration worker_pool::take(work_fifo& items, unsigned count, bool cheap, time_point now, supervised by_loop) noexcept {
  worker* woken = nullptr;
  duration again{};
  {
    const std::lock_guard lock(mutex_);
    if (now - checked_at_ >= check_interval) {
      checked_at_ = now;
      mark_stuck_workers();
    }
    if (queue_.empty()) begun_at_ = std::max(begun_at_, now);
    queue_.push_all(items);
    ages_.push(count, now);
    pending_.store(pending_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    if (!cheap) pending_long_ += count;
    woken = wake_one_more(now, by_loop);
    const bool alone = pending_.load(std::memory_order_relaxed) == 1;
    if (!woken || !alone) again = next_check_in();
  }
  if (woken) woken->wake.post();
  return again;
}

duration worker_pool::next_check_in() const noexcept {
  if (pending_long_ == 0 || available_count() > 0 || !may_grow()) return pool_submitter::patience;
  return std::clamp(limits_.queue_latency, duration(std::chrono::microseconds(50)), pool_submitter::patience);
}

// Runs on a worker. Requires the lock, and releases it while the item runs.
inline void worker_pool::run_next(worker& self) noexcept {
  work_item& item = pop_next(self);
  const bool counts = !self.runs_cheap;
  worker* woken = nullptr;
  if (counts) {
    ++busy_;
    if (!queue_.empty()) woken = wake_one_more(begun_at_, supervised::yes);  // the items behind it expected this worker
  }
  mutex_.unlock();
  if (woken) woken->wake.post();
  if (counts) self.batons->post_all();
  item();
  if (pending_.load(std::memory_order_relaxed) == 0) self.batons->post_all();
  mutex_.lock();
  ++self.finished;
  self.runs_cheap = false;
  if (counts || std::exchange(self.stuck, false)) --busy_;
}

// Reads the clock for an expensive item, for the first cheap one of those that were queued together, and for each item
// during an overload.
inline work_item& worker_pool::pop_next(worker& self) noexcept {
  const time_point since = ages_.pop();
  work_item& item = *queue_.pop();
  pending_.store(pending_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  self.runs_cheap = is_cheap(item);
  if (!self.runs_cheap) --pending_long_;
  if (!self.runs_cheap || since != last_checked_ || policy_.is_overloaded()) [[unlikely]]
    begin_checked(self, item, since);
  return item;
}

[[gnu::noinline]] void worker_pool::begin_checked(worker& self, work_item& item, time_point since) noexcept {
  last_checked_ = since;
  const time_point now = clock::system().now();
  if (!self.runs_cheap) begun_at_ = now;
  check_wait(item, since, now);
  if (item.is_expired()) self.runs_cheap = true;
}

// A worker that still runs the cheap item of the last check counts as busy now, and its batons are posted.
void worker_pool::mark_stuck_workers() noexcept {
  for (worker& w : workers_) {
    if (w.runs_cheap && !w.stuck && w.finished == w.seen) {
      w.stuck = true;
      ++busy_;
      w.batons->post_all();
    }
    w.seen = w.finished;
  }
}

// If too few workers are awake for the queued items, returns an idle worker that the caller must notify. If none is
// idle, the pool may grow. Requires the lock.
worker_pool::worker* worker_pool::wake_one_more(time_point now, supervised by_loop) noexcept {
  const std::size_t all = pending_.load(std::memory_order_relaxed), cheap = all - pending_long_;
  // A worker that has just been started counts as free, although it does not wait yet.
  if (available_count() >= pending_long_ + (cheap + cheap_share - 1) / cheap_share) return nullptr;
  if (idle_.empty()) {
    consider_growth(now, by_loop);
    return nullptr;
  }
  ++count_.wakes;
  return &idle_.call();
}

// [loop] Wakes or adds a worker for waiting work. If all workers are stuck, runs the expired items that can be shed.
// Returns after how long to call it again. Zero: nothing waits, and no worker runs an item that may turn out to be
// expensive.
duration worker_pool::supervise(time_point now) noexcept {
  worker* woken = nullptr;
  duration again = pool_submitter::patience;
  work_fifo late;
  {
    const std::lock_guard lock(mutex_);
    mark_stuck_workers();
    if (queue_.empty()) {
      const bool waits = std::ranges::any_of(workers_, [](const worker& w) { return w.runs_cheap && !w.stuck; });
      return waits ? pool_submitter::patience : duration::zero();
    }
    woken = wake_one_more(now, supervised::yes);
    if (!woken && cannot_grow() && now - begun_at_ >= limits_.stuck_time) shed_late_items(late, now);
    again = next_check_in();
  }
  if (woken) woken->wake.post();
  while (work_item* const item = late.pop()) (*item)();
  return again;
}

// The threads: start, wait and end.

// Requires the lock, so that the new thread finds its own entry complete: it waits for the lock.
void worker_pool::start_worker() {
  if (spare_.empty()) spare_.emplace_back();
  const auto self = spare_.begin();
  workers_.splice(workers_.end(), spare_, self);
  try {
    self->thread = start_thread(kind_.name + std::to_string(next_number_), [this, self, number = next_number_] {
      if (kind_.nice > 0) (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kind_.nice);
      work(self, number);
    });
  } catch (...) {
    spare_.splice(spare_.end(), workers_, self);
    throw;
  }
  ++next_number_;
}

void worker_pool::work(worker_list::iterator self, unsigned number) {
  post_batch finished;
  spin_budget spin(has_several_cpus() ? limits_.spin : duration::zero());
  std::minstd_rand random(number + 1);
  std::unique_lock lock(mutex_);
  self->batons = &finished;
  while (!queue_.empty() || wait_for_work(*self, lock, spin, random)) run_next(*self);
  if (!stopping_) leave(self, lock);  // otherwise stop() joins it
}

// A thread cannot join itself: the next worker that leaves, or stop(), joins it.
void worker_pool::leave(worker_list::iterator self, std::unique_lock<thin_mutex>& lock) {
  worker_list others;
  others.swap(left_);
  left_.splice(left_.end(), workers_, self);
  const time_point now = clock::system().now();
  policy_.note_leaving(now);
  note(worker_event::left_idle, now);
  if (others.empty()) return;
  lock.unlock();
  for (worker& w : others) w.thread.join();
  lock.lock();
  spare_.splice(spare_.end(), others);
}

// Returns whether there is an item. If not, this worker must leave.
bool worker_pool::wait_for_work(worker& self, std::unique_lock<thin_mutex>& lock, spin_budget& spin,
                                std::minstd_rand& random) {
  while (queue_.empty()) {
    if (self.batons->post_all()) continue;  // other workers have emptied the queue; look again after the post
    if (stopping_) return false;
    if (spin.enabled() && !spinning_ && spin_for_work(lock, spin)) continue;
    if (!sleep(self, lock, random) && queue_.empty() && !stopping_ && may_shrink()) return false;
  }
  return true;
}

// Returns whether the worker was called; false after a time-out or when the pool stops. If there are at most `min`
// workers, the sleep has no time limit, and costs nothing. When the pool grows beyond `min`, none of them sleeps, so
// each gets a time limit at its next sleep.
bool worker_pool::sleep(worker& self, std::unique_lock<thin_mutex>& lock, std::minstd_rand& random) {
  time_point end = time_point::max();
  if (workers_.size() > limits_.min)
    end = later(clock::system().now(), policy_.idle_time() / 100 * std::uniform_int_distribution(90, 110)(random));
  return idle_.sleep(self, lock, end, [this] { return stopping_.load(std::memory_order_relaxed); });
}

// Returns whether there may be an item, or the pool stops.
bool worker_pool::spin_for_work(std::unique_lock<thin_mutex>& lock, spin_budget& spin) {
  spinning_ = true;
  lock.unlock();
  const auto outcome = spin.spin(clock::system(), spin_budget::longest, [this] {
    return pending_.load(std::memory_order_relaxed) > 0 || stopping_.load(std::memory_order_relaxed);
  });
  lock.lock();
  spinning_ = false;
  return spin_budget::found(outcome) || !queue_.empty() || stopping_;
}

}  // namespace quintet
