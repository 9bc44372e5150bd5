// SPDX-License-Identifier: BSL-1.0
// idle_workers: the workers of a pool that sleep, and how they are called.
#pragma once

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace quintet {

/// A worker while it sleeps. A template of its condition variable, so that a model checker can run this code
/// (net/tests/model_checking).
template <class Condition>
struct basic_sleeper : boost::intrusive::list_base_hook<> {
  Condition wake;
  bool is_woken = false;  // it was called, and is not idle any more
};

/// All functions require the pool's lock.
template <class Sleeper>
class basic_idle_workers {
 public:
  [[nodiscard]] bool empty() const noexcept { return idle_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }
  /// Calls the worker that was busy last. The caller must notify it once it has released the lock.
  Sleeper& call() noexcept {
    Sleeper& next = idle_.front();
    idle_.pop_front();
    next.is_woken = true;
    return next;
  }
  /// Calls wait(), which releases the lock and waits: until self.is_woken, or for other reasons. Returns whether the
  /// worker was called. A call and a time-out may happen at the same time: then it was called.
  template <class Wait>
  bool sleep(Sleeper& self, Wait wait) {
    self.is_woken = false;
    idle_.push_front(self);
    wait();
    if (!self.is_woken) idle_.erase(idle_.iterator_to(self));
    return self.is_woken;
  }

 private:
  boost::intrusive::list<Sleeper> idle_;  // the one that was busy last comes first
};

}  // namespace quintet
