// SPDX-License-Identifier: BSL-1.0
// worker_pool: one queue, one mutex; a notification only for a worker that nobody has notified yet.
#include <quintet/threadmodels/worker_pool.hpp>

#include <quintet/net/loop_thread.hpp>

#include <exception>
#include <string>

namespace quintet {

worker_pool::worker_pool(worker_limits limits) : limits_(limits) {
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
  thread_list all;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all.splice(all.end(), workers_);
    all.splice(all.end(), left_);
  }
  ready_.notify_all();
  for (std::thread& t : all) t.join();
}

void worker_pool::submit(work_item& item) noexcept {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.push(item);
    ++pending_;
    // One that has only just been started is free too, although it does not wait yet.
    if (busy_ + pending_ > workers_.size() && workers_.size() < limits_.max) (void)grow();
    wake = idle_ > woken_;  // a worker that is on its way takes this item too
    if (wake) ++woken_;
  }
  if (wake) ready_.notify_one();
}

std::size_t worker_pool::threads() const {
  const std::lock_guard lock(mutex_);
  return workers_.size();
}

// Under the lock, which the new thread waits for.
void worker_pool::start_worker() {
  const auto self = workers_.emplace(workers_.end());
  try {
    *self = std::thread([this, self, number = next_number_] { work(self, number); });
  } catch (...) {
    workers_.erase(self);
    throw;
  }
  ++next_number_;
}

// When there are no more threads to be had, the ones there are will come to the work.
bool worker_pool::grow() noexcept {
  try {
    start_worker();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void worker_pool::work(thread_list::iterator self, unsigned number) {
  name_this_thread("qnt-work-" + std::to_string(number));
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    work_item& item = *queue_.pop();
    --pending_;
    ++busy_;
    lock.unlock();
    item();
    lock.lock();
    --busy_;
  }
  if (stopping_) return;  // stop() joins
  // A thread cannot join itself: the next one that leaves, or stop(), does.
  thread_list others;
  others.swap(left_);
  left_.splice(left_.end(), workers_, self);
  lock.unlock();
  for (std::thread& t : others) t.join();
}

// False: this worker should leave.
bool worker_pool::wait_for_work(std::unique_lock<std::mutex>& lock) {
  while (queue_.empty()) {
    if (stopping_) return false;
    ++idle_;
    const bool notified = ready_.wait_for(lock, idle_time) == std::cv_status::no_timeout;
    --idle_;
    if (woken_ > 0) --woken_;
    if (!notified && queue_.empty() && workers_.size() > limits_.min) return false;
  }
  return true;
}

}  // namespace quintet
