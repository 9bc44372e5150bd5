// SPDX-License-Identifier: BSL-1.0
// waiting: sleeps and events, and how they are cancelled.
#include "waiting.hpp"

namespace quintet {
namespace detail {

void sleeper::await_suspend(std::coroutine_handle<> waiting) noexcept {
  waiting_ = waiting;
  const bool is_cancelled = host_.add(*this);
  event_loop& loop = host_.host_loop();
  loop.start(*this, what_.until == time_point::max() ? what_.time : between(loop.now(), what_.until));
  if (is_cancelled) cancel();
}

// The timer fires in the loop's next look at timers, never within this call.
void sleeper::cancel() noexcept {
  if (failed_) return;
  failed_ = error_of(host_.cancelled());
  host_.host_loop().start(*this, {});
}

bool event_waiter::await_suspend(std::coroutine_handle<> waiting) noexcept {
  waiting_ = waiting;
  bool is_cancelled = false;
  {
    const std::lock_guard lock(event_.mutex_);
    if (event_.is_set_) return false;
    is_cancelled = host_.add(*this);
    event_.waiting_.push_back(*this);
  }
  if (is_cancelled) cancel();
  return true;
}

// If set() was first, its item is on the way.
void event_waiter::cancel() noexcept {
  const std::lock_guard lock(event_.mutex_);
  if (!place_.is_linked()) return;
  event_.waiting_.erase(event_.waiting_.iterator_to(*this));
  failed_ = error_of(host_.cancelled());
  host_.host_loop().post(static_cast<work_item&>(*this));
}

// The coroutine may destroy the event: set() must have left it.
void event_waiter::resume(work_item& item) noexcept {
  auto& self = static_cast<event_waiter&>(item);
  {
    const std::lock_guard lock(self.event_.mutex_);
  }
  self.host_.resume(self.waiting_);
}

}  // namespace detail

void event::set() noexcept {
  const std::lock_guard lock(mutex_);
  is_set_ = true;
  while (!waiting_.empty()) {
    detail::event_waiter& next = waiting_.front();
    waiting_.pop_front();
    next.host_.host_loop().post(static_cast<work_item&>(next));
  }
}

}  // namespace quintet
