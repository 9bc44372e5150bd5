// SPDX-License-Identifier: BSL-1.0
// worker_pool: one queue, one mutex; a notification only where nobody who is awake will come to the work soon.
#include "worker_pool.hpp"

#include "../../base/work/next_number.hpp"
#include "../../net/loop/event_loop.hpp"
#include "../../net/loop/homecoming.hpp"

#include <algorithm>
#include <new>

namespace quintet {

worker_pool::worker_pool(const worker_limits& limits)
    : limits_(limits), number_(next_number<worker_pool>()), policy_(limits) {
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
  for (worker& w : all) w.wake.notify_one();
  for (worker& w : all) w.thread.join();
}

void worker_pool::submit(work_item& item) noexcept {
  if (event_loop* const loop = event_loop::current())
    if (pool_entrance* const here = entrance_of(*loop)) return here->add(item);
  work_fifo alone;
  alone.push(item);
  take(alone, 1, item.is_quick(), clock::system().now(), watched::no);
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

// After how long a loop should look whether all goes well. Zero: it does.
duration worker_pool::take(work_fifo& items, unsigned count, bool quick, time_point now, watched by_loop) noexcept {
  worker* called = nullptr;
  duration again{};
  {
    const std::lock_guard lock(mutex_);
    if (now - looked_at_ >= long_for_quick) {
      looked_at_ = now;
      look_at_workers();
    }
    if (queue_.empty()) begun_at_ = std::max(begun_at_, now);
    queue_.push_all(items);
    ages_.push(count, now);
    pending_.store(pending_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    if (!quick) pending_long_ += count;
    called = call_one_more(now, by_loop);
    const bool alone = pending_.load(std::memory_order_relaxed) == 1;
    if (!called || !alone) again = look_again_in();
  }
  if (called) called->wake.notify_one();
  return again;
}

duration worker_pool::look_again_in() const noexcept {
  if (pending_long_ == 0 || free_and_awake() > 0 || !may_grow()) return pool_entrance::patience;
  return std::clamp(limits_.queue_latency, duration(std::chrono::microseconds(50)), pool_entrance::patience);
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

// Where those who are awake, or on their way, are too few for what waits: who is to be notified, if anybody sleeps.
worker_pool::worker* worker_pool::call_one_more(time_point now, watched by_loop) noexcept {
  const std::size_t all = pending_.load(std::memory_order_relaxed), quick = all - pending_long_;
  // One that has only just been started is free too, although it does not wait yet.
  if (free_and_awake() >= pending_long_ + (quick + quick_share - 1) / quick_share) return nullptr;
  if (idle_.empty()) {
    consider_growth(now, by_loop);
    return nullptr;
  }
  worker& next = idle_.front();
  idle_.pop_front();
  next.called = true;
  ++count_.wakes;
  return &next;
}

// [loop] After how long to look again. Zero: nothing waits, and nobody runs what may turn out not to be quick.
duration worker_pool::look_after_work(time_point now) noexcept {
  worker* called = nullptr;
  duration again = pool_entrance::patience;
  work_fifo late;
  {
    const std::lock_guard lock(mutex_);
    look_at_workers();
    if (queue_.empty()) {
      const bool waits = std::ranges::any_of(workers_, [](const worker& w) { return w.runs_quick && !w.stuck; });
      return waits ? pool_entrance::patience : duration::zero();
    }
    called = call_one_more(now, watched::yes);
    if (!called && has_all_there_can_be() && now - begun_at_ >= limits_.stuck_time) take_late_ones(late, now);
    again = look_again_in();
  }
  if (called) called->wake.notify_one();
  while (work_item* const item = late.pop()) (*item)();
  return again;
}

}  // namespace quintet
