// SPDX-License-Identifier: BSL-1.0
// post_batch: collects the posts to one loop at a time.
#include "post_batch.hpp"

#include "event_loop.hpp"

namespace quintet {

void post_batch::post(event_loop& loop, work_item& item) noexcept {
  if (post_batch* const batch = of_this_thread)
    batch->add(loop, item);
  else
    loop.post(item);
}

void post_batch::add(event_loop& loop, work_item& item) noexcept {
  const std::lock_guard lock(mutex_);
  if (loop_ != &loop) post_locked();
  loop_ = &loop;
  items_.push(item);
  if (++count_ == most) post_locked();
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
