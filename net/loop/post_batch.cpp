// SPDX-License-Identifier: BSL-1.0
// post_batch: collects the posts to one loop at a time.
#include "post_batch.hpp"

#include "event_loop.hpp"

#include <mutex>

namespace quintet {

void post_batch::post(event_loop& loop, work_item& item) noexcept {
  post_batch* const batch = of_this_thread;
  if (!batch) return loop.post(item);
  const std::lock_guard lock(batch->mutex_);
  if (batch->loop_ != &loop) batch->post_locked();
  batch->loop_ = &loop;
  batch->items_.push(item);
  if (++batch->count_ == most) batch->post_locked();
}

bool post_batch::post_all() noexcept {
  const std::lock_guard lock(mutex_);
  return post_locked();
}

bool post_batch::post_locked() noexcept {
  if (count_ == 0) return false;
  count_ = 0;
  loop_->post(items_);
  return true;
}

}  // namespace quintet
