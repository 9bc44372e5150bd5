// SPDX-License-Identifier: BSL-1.0
// homecoming: for one loop at a time.
#include <quintet/net/homecoming.hpp>

#include <quintet/net/event_loop.hpp>

namespace quintet {

void homecoming::add(event_loop& loop, work_item& item) noexcept {
  if (loop_ != &loop) send_home();
  loop_ = &loop;
  items_.push(item);
  if (++count_ == most) send_home();
}

void homecoming::send_home() noexcept {
  if (count_ == 0) return;
  count_ = 0;
  loop_->post(items_);
}

}  // namespace quintet
