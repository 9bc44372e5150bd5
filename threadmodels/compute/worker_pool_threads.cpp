// SPDX-License-Identifier: BSL-1.0
// worker_pool: its threads: how they begin, wait, and leave.
#include "worker_pool.hpp"

#include "../../net/loop/allowed_cpus.hpp"
#include "../../net/loop/post_batch.hpp"
#include "../../net/watch/thread_name.hpp"

#include <algorithm>
#include <string>

namespace quintet {
namespace {

/// Who spins on the only CPU keeps it from whoever would bring work.
bool has_several_cpus() noexcept {
  const cpu_set_t allowed = allowed_cpu_set();
  return CPU_COUNT(&allowed) != 1;
}

}  // namespace

// Under the lock, which the new thread waits for.
void worker_pool::start_worker() {
  if (spare_.empty()) spare_.emplace_back();
  const auto self = spare_.begin();
  workers_.splice(workers_.end(), spare_, self);
  try {
    self->thread = std::thread([this, self, number = next_number_] { work(self, number); });
  } catch (...) {
    spare_.splice(spare_.end(), workers_, self);
    throw;
  }
  ++next_number_;
}

void worker_pool::work(worker_list::iterator self, unsigned number) {
  name_this_thread("qnt-work-" + std::to_string(number));
  post_batch finished;
  spin_budget spin(has_several_cpus() ? limits_.spin : duration::zero());
  std::minstd_rand random(number + 1);
  std::unique_lock lock(mutex_);
  self->batons = &finished;
  while (wait_for_work(*self, lock, spin, random)) run_next(*self, lock);
  if (!stopping_) leave(self, lock);  // else stop() joins
}

// A thread cannot join itself: the next one that leaves, or stop(), does.
void worker_pool::leave(worker_list::iterator self, std::unique_lock<std::mutex>& lock) {
  worker_list others;
  others.swap(left_);
  left_.splice(left_.end(), workers_, self);
  const time_point now = clock::system().now();
  policy_.left(now);
  note(worker_event::left_idle, now);
  if (others.empty()) return;
  lock.unlock();
  for (worker& w : others) w.thread.join();
  lock.lock();
  spare_.splice(spare_.end(), others);
}

// False: this worker should leave.
bool worker_pool::wait_for_work(worker& self, std::unique_lock<std::mutex>& lock, spin_budget& spin,
                                std::minstd_rand& random) {
  while (queue_.empty()) {
    if (self.batons->post_all()) continue;  // others took what was waiting
    if (stopping_) return false;
    if (spin.enabled() && !spinning_ && spin_for_work(lock, spin)) continue;
    if (!sleep(self, lock, random) && queue_.empty() && !stopping_ && may_shrink()) return false;
  }
  return true;
}

// False: in vain. As many as there must always be sleep without an end, and cost nothing meanwhile; when the pool grows
// beyond them, they are all awake.
bool worker_pool::sleep(worker& self, std::unique_lock<std::mutex>& lock, std::minstd_rand& random) {
  self.called = false;
  idle_.push_front(self);
  const auto wanted = [&] { return self.called || stopping_.load(std::memory_order_relaxed); };
  if (workers_.size() <= limits_.min)
    self.wake.wait(lock, wanted);
  else
    self.wake.wait_for(lock, policy_.stay() / 100 * std::uniform_int_distribution(90, 110)(random), wanted);
  if (!self.called) idle_.erase(idle_.iterator_to(self));
  return self.called;
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
