// SPDX-License-Identifier: BSL-1.0
// pool_entrance: gathers items, hands them over, and checks on them.
#include "pool_entrance.hpp"

#include "worker_pool.hpp"

#include <utility>

namespace quintet {

void pool_entrance::add(work_item& item) noexcept {
  if (!pool_.is_cheap(item)) return submit_at_once(item);
  items_.push(item);
  if (++count_ == most) return submit_batch();
  if (!std::exchange(due_, true)) loop_.defer(*this);
}

void pool_entrance::turn_ends(work_item& item) noexcept {
  auto& self = static_cast<pool_entrance&>(item);
  self.due_ = false;
  self.submit_batch();
}

void pool_entrance::submit_batch() noexcept {
  if (count_ == 0) return;
  schedule_check(pool_.take(items_, std::exchange(count_, 0), true, loop_.now(), worker_pool::supervised::yes));
}

// Reads the clock instead of the time of the turn: the wait of this item decides whether a thread is added.
void pool_entrance::submit_at_once(work_item& item) noexcept {
  work_fifo alone;
  alone.push(item);
  schedule_check(pool_.take(alone, 1, false, loop_.time().now(), worker_pool::supervised::yes));
}

// Starts the timer of the next check. Zero: no check is needed.
void pool_entrance::schedule_check(duration after) noexcept {
  if (after == duration::zero()) return;
  if (!pending() || deadline() > loop_.now() + after) loop_.start(*this, after);
}

void pool_entrance::expired() noexcept { schedule_check(pool_.supervise(loop_.now())); }

}  // namespace quintet
