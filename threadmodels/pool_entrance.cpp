// SPDX-License-Identifier: BSL-1.0
// pool_entrance: gathering, and looking after what was handed over.
#include <quintet/threadmodels/pool_entrance.hpp>

#include <quintet/threadmodels/worker_pool.hpp>

#include <utility>

namespace quintet {

void pool_entrance::add(work_item& item) noexcept {
  items_.push(item);
  if (++count_ == most) return hand_over();
  if (!std::exchange(due_, true)) loop_.defer(*this);
}

void pool_entrance::turn_ends(work_item& item) noexcept {
  auto& self = static_cast<pool_entrance&>(item);
  self.due_ = false;
  self.hand_over();
}

void pool_entrance::hand_over() noexcept {
  if (count_ == 0) return;
  const bool relies = pool_.take(items_, std::exchange(count_, 0), true, loop_.now());
  if (relies && !pending()) loop_.start(*this, patience);
}

void pool_entrance::expired() noexcept {
  if (pool_.look_after_workers()) loop_.start(*this, patience);
}

}  // namespace quintet
