// SPDX-License-Identifier: BSL-1.0
// homecoming: for one loop at a time.
#include "homecoming.hpp"

#include "event_loop.hpp"

namespace quintet {

void homecoming::add(event_loop& loop, work_item& item) noexcept {
  const std::lock_guard lock(mutex_);
  if (loop_ != &loop) post_all();
  loop_ = &loop;
  items_.push(item);
  if (++count_ == most) post_all();
}

bool homecoming::send_home() noexcept {
  const std::lock_guard lock(mutex_);
  return post_all();
}

// Under the lock.
bool homecoming::post_all() noexcept {
  if (count_ == 0) return false;
  count_ = 0;
  loop_->post(items_);
  return true;
}

}  // namespace quintet
