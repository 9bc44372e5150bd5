// SPDX-License-Identifier: BSL-1.0
// loop_timers: starts, fires, repeats and cancels timers.
#include "loop_timers.hpp"

#include "../watch/activity.hpp"
#include "event_loop.hpp"
#include "loop_log.hpp"

#include <algorithm>

namespace quintet {

timer_id loop_timers::launch(std::unique_ptr<node> fresh, duration first) {
  const bool here = loop_.in_this_thread();
  fresh->due = later(here ? loop_.now() : clock_.now(), first);
  node& n = *fresh;
  timer_id id;
  {
    const std::lock_guard lock(mutex_);
    n.id = id = timer_id(++newest_);
    table_.insert(table_.end(), n);
    if (here) n.stage = state::waiting;
  }
  (void)fresh.release();
  if (here)
    queue_.start(n, n.due);
  else
    loop_.post(n);  // the loop may destroy n from here on
  return id;
}

// The inbox holds new nodes, and nodes that another thread has cancelled.
void loop_timers::node::arrive(work_item& item) noexcept {
  std::unique_ptr<node> cancelled;
  node& n = static_cast<node&>(item);
  const std::lock_guard lock(n.timers.mutex_);  // unlocked before ~cancelled: the function may own anything
  if (n.stage == state::cancelled) return cancelled.reset(&n);
  n.stage = state::waiting;
  n.timers.queue_.start(n, n.due);
}

void loop_timers::fire(node& n) noexcept {
  const bool once = n.period == duration::zero();
  {
    const std::lock_guard lock(mutex_);
    if (n.stage == state::cancelled) return;  // arrive() will destroy it
    n.stage = state::running;
    if (once) table_.erase(table_.iterator_to(n));
  }
  try {
    const callback_scope scope(callback::timer, nullptr, n.type());
    n.call();
  } catch (...) {
    detail::note_exception(loop_);
  }
  if (once)
    delete &n;
  else
    rearm(n);
}

// Schedules the next call that is still to come. Missed calls are skipped, or a loop that was held up would make all of
// them at once.
void loop_timers::rearm(node& n) noexcept {
  const time_point now = clock_.now();  // not loop_.now(): the call may have taken long
  do {                                  // a second time if the clock has jumped further than a duration can tell
    const duration late = std::max(between(n.due, now), duration::zero());
    n.due = later(later(n.due, late - late % n.period), n.period);
  } while (n.due <= now && n.due != time_point::max());
  std::unique_ptr<node> cancelled;
  const std::lock_guard lock(mutex_);
  if (n.stage == state::cancelled) return cancelled.reset(&n);
  n.stage = state::waiting;
  queue_.start(n, n.due);
}

bool loop_timers::cancel(timer_id id) noexcept {
  std::unique_ptr<node> here;
  std::unique_lock lock(mutex_);
  const auto found = table_.find(id);
  if (found == table_.end()) return false;
  node& n = *found;
  table_.erase(found);
  if (std::exchange(n.stage, state::cancelled) != state::waiting) return true;  // arrive() or rearm() will destroy it
  if (loop_.in_this_thread()) {
    here.reset(&n);
  } else {
    lock.unlock();
    loop_.post(n);
  }
  return true;
}

bool loop_timers::empty() noexcept {
  const std::lock_guard lock(mutex_);
  return table_.empty();
}

void loop_timers::clear() noexcept {
  while (true) {
    std::unique_ptr<node> first;
    const std::lock_guard lock(mutex_);
    if (table_.empty()) return;
    first.reset(&*table_.begin());
    table_.erase(table_.begin());
  }
}

}  // namespace quintet
