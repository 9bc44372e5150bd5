// SPDX-License-Identifier: BSL-1.0
// idle_workers: the workers of a pool that sleep, and how they are called.
#pragma once

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace quintet {

/// A worker while it sleeps. A template of its semaphore, so that a model checker can run this code
/// (threadmodels/tests/model_checking).
template <class Semaphore>
struct basic_sleeper : boost::intrusive::list_base_hook<> {
  Semaphore wake;
  bool is_woken = false;  // it was called, and is not idle any more
};

/// All functions require the pool's lock.
template <class Sleeper>
class basic_idle_workers {
 public:
  [[nodiscard]] bool empty() const noexcept { return idle_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }
  /// Calls the worker that was busy last. The caller must post to its `wake` once it has released the lock.
  Sleeper& call() noexcept {
    Sleeper& next = idle_.front();
    idle_.pop_front();
    next.is_woken = true;
    return next;
  }
  /// Releases the lock and waits: until a call, until `end`, or until is_over() after a post. Returns whether the
  /// worker was called. A call and a time-out may happen at the same time: then it was called, and its post ends a
  /// later wait early.
  template <class Lock, class Time, class Over>
  bool sleep(Sleeper& self, Lock& lock, Time end, Over is_over) {
    self.is_woken = false;
    idle_.push_front(self);
    for (bool in_time = true; in_time && !self.is_woken && !is_over();) {
      lock.unlock();
      in_time = self.wake.wait(end);
      lock.lock();
    }
    if (!self.is_woken) idle_.erase(idle_.iterator_to(self));
    return self.is_woken;
  }

 private:
  boost::intrusive::list<Sleeper> idle_;  // the one that was busy last comes first
};

}  // namespace quintet
