// SPDX-License-Identifier: BSL-1.0
// worker_pool: one queue, one mutex; a notification only where nobody who is awake will come to the work soon.
#include <quintet/threadmodels/worker_pool.hpp>

#include <quintet/net/event_loop.hpp>
#include <quintet/net/homecoming.hpp>
#include <quintet/net/loop_thread.hpp>

#include <sched.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace quintet {
namespace {

/// Who spins on the only CPU keeps it from whoever would bring work.
bool has_several_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) > 1;
}

std::atomic<std::uint64_t> pools{0};

}  // namespace

worker_pool::worker_pool(worker_limits limits) : limits_(limits), number_(++pools) {
  try {
    const std::lock_guard lock(mutex_);
    while (workers_.size() < limits_.min) start_worker();
  } catch (...) {
    stop();
    throw;
  }
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
  ready_.notify_all();
  for (worker& w : all) w.thread.join();
}

void worker_pool::submit(work_item& item) noexcept {
  if (item.is_quick())
    if (event_loop* const loop = event_loop::current())
      if (pool_entrance* const here = entrance_of(*loop)) return here->add(item);
  work_fifo alone;
  alone.push(item);
  (void)take(alone, 1, item.is_quick(), time_point());
}

// The calling thread's loop's. Nothing where there is no memory for one.
pool_entrance* worker_pool::entrance_of(event_loop& loop) noexcept {
  struct last_used {
    std::uint64_t pool = 0;
    const event_loop* loop = nullptr;
    pool_entrance* entrance = nullptr;
  };
  thread_local last_used last;
  if (last.pool == number_ && last.loop == &loop) [[likely]]
    return last.entrance;
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(entrances_, &loop, [](const pool_entrance& e) { return &e.loop(); });
  try {
    if (found == entrances_.end()) found = entrances_.emplace(found, *this, loop);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  last = {number_, &loop, &*found};
  return last.entrance;
}

// Whether the items rely on workers that are at something else: true unless one was woken for a single item.
bool worker_pool::take(work_fifo& items, unsigned count, bool quick, time_point now) noexcept {
  bool wake = false, alone = false;
  {
    const std::lock_guard lock(mutex_);
    if (now - looked_at_ >= long_for_quick) {
      looked_at_ = now;
      look_at_workers();
    }
    queue_.push_all(items);
    pending_.store(pending_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    if (!quick) pending_long_ += count;
    alone = pending_.load(std::memory_order_relaxed) == 1;
    wake = call_one_more();
  }
  if (wake) ready_.notify_one();
  return !wake || !alone;
}

// One that is still at the quick item of the last time counts as busy from now on, and what it keeps goes home.
void worker_pool::look_at_workers() noexcept {
  for (worker& w : workers_) {
    if (w.runs_quick && !w.stuck && w.finished == w.seen) {
      w.stuck = true;
      ++busy_;
      w.batons->send_home();
    }
    w.seen = w.finished;
  }
}

// False: nothing waits, and nobody runs what may turn out not to be quick.
bool worker_pool::look_after_workers() noexcept {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    look_at_workers();
    if (queue_.empty()) return std::ranges::any_of(workers_, [](const worker& w) { return w.runs_quick && !w.stuck; });
    wake = call_one_more();
  }
  if (wake) ready_.notify_one();
  return true;
}

// Where those who are awake, or on their way, are too few for what waits. True: one is to be notified.
bool worker_pool::call_one_more() noexcept {
  const std::size_t all = pending_.load(std::memory_order_relaxed), quick = all - pending_long_;
  if (free_and_awake() >= pending_long_ + (quick + quick_share - 1) / quick_share) return false;
  if (idle_ > woken_) {
    ++woken_;
    count_.wakes++;
    return true;
  }
  // One that has only just been started is free too, although it does not wait yet.
  if (workers_.size() < limits_.max) grow();
  return false;
}

worker_statistics worker_pool::statistics() const {
  const std::lock_guard lock(mutex_);
  worker_statistics now = count_;
  now.threads = workers_.size();
  return now;
}

// Under the lock, which the new thread waits for.
void worker_pool::start_worker() {
  const auto self = workers_.emplace(workers_.end());
  try {
    self->thread = std::thread([this, self, number = next_number_] { work(self, number); });
  } catch (...) {
    workers_.erase(self);
    throw;
  }
  ++next_number_;
}

// When there are no more threads to be had, the ones there are will come to the work.
void worker_pool::grow() noexcept {
  try {
    start_worker();
    ++count_.grown;
  } catch (const std::exception&) {
    ++count_.refused;
  }
}

void worker_pool::work(worker_list::iterator self, unsigned number) {
  name_this_thread("qnt-work-" + std::to_string(number));
  homecoming finished;
  spin_budget spin(has_several_cpus() ? limits_.spin : duration::zero());
  std::unique_lock lock(mutex_);
  self->batons = &finished;
  std::minstd_rand random(number + 1);
  while (wait_for_work(lock, spin, random)) run(*queue_.pop(), *self, lock);
  if (stopping_) return;  // stop() joins
  ++count_.left;
  // A thread cannot join itself: the next one that leaves, or stop(), does.
  worker_list others;
  others.swap(left_);
  left_.splice(left_.end(), workers_, self);
  lock.unlock();
  for (worker& w : others) w.thread.join();
}

void worker_pool::run(work_item& item, worker& self, std::unique_lock<std::mutex>& lock) noexcept {
  pending_.store(pending_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  self.runs_quick = item.is_quick();
  const bool counts = !self.runs_quick;
  bool wake = false;
  if (counts) {
    --pending_long_;
    ++busy_;
    if (!queue_.empty() && idle_ > woken_) wake = call_one_more();  // those behind it counted on this worker
  }
  lock.unlock();
  if (wake) ready_.notify_one();
  if (counts) self.batons->send_home();
  item();
  if (pending_.load(std::memory_order_relaxed) == 0) self.batons->send_home();
  lock.lock();
  ++self.finished;
  self.runs_quick = false;
  if (counts || std::exchange(self.stuck, false)) --busy_;
}

// False: this worker should leave.
bool worker_pool::wait_for_work(std::unique_lock<std::mutex>& lock, spin_budget& spin, std::minstd_rand& random) {
  while (queue_.empty()) {
    if (homecoming::current()->send_home()) continue;  // others took what was waiting
    if (stopping_) return false;
    if (spin.enabled() && !spinning_ && spin_for_work(lock, spin)) continue;
    const bool notified = sleep(lock, limits_.idle_time * std::uniform_int_distribution(90, 110)(random) / 100);
    if (!notified && queue_.empty() && workers_.size() > limits_.min) return false;
  }
  return true;
}

// False: for `stay`, in vain. As many as there must always be sleep without an end, and cost nothing meanwhile.
bool worker_pool::sleep(std::unique_lock<std::mutex>& lock, duration stay) {
  ++idle_;
  bool notified = true;
  if (residents_ < limits_.min) {
    ++residents_;
    ready_.wait(lock);
    --residents_;
  } else {
    notified = ready_.wait_for(lock, stay) == std::cv_status::no_timeout;
  }
  --idle_;
  if (woken_ > 0) --woken_;
  return notified;
}

// Whether there may be something now.
bool worker_pool::spin_for_work(std::unique_lock<std::mutex>& lock, spin_budget& spin) {
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
