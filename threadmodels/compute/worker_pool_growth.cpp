// SPDX-License-Identifier: BSL-1.0
// worker_pool: growth as elastic_policy decides, shedding of late items, and the record of both.
#include "worker_pool.hpp"

#include <algorithm>
#include <exception>

namespace quintet {

duration worker_pool::oldest(time_point now) const noexcept {
  return ages_.empty() ? duration::zero() : std::max(duration::zero(), now - ages_.oldest());
}

// Waking an idle worker is cheaper than a new thread, so the caller has found none idle.
void worker_pool::consider_growth(time_point now, supervised by_loop) noexcept {
  if (cannot_grow() && policy_.is_late(oldest(now)))
    if (const auto news = policy_.update_load(oldest(now), false)) note(*news, now);
  if (!may_grow()) return;
  if (by_loop == supervised::no) return grow(worker_event::grown_at_once, now);
  if (const auto why = policy_.growth(now, oldest(now), now - begun_at_)) grow(*why, now);
}

// If the system refuses a thread, the existing workers run the queued items.
void worker_pool::grow(worker_event why, time_point now) noexcept {
  try {
    start_worker();
    refused_ = false;
  } catch (const std::exception&) {
    refused_ = true;
    why = worker_event::refused;
  }
  policy_.note_growth(now);  // also after a refusal, so that the pool does not retry at once
  note(why, now);
}

// Records the wait of an item that leaves the queue. Marks it as expired if it is late in an overload.
void worker_pool::check_wait(work_item& item, time_point since, time_point now) noexcept {
  const duration waited = std::max(duration::zero(), now - since);
  if (!is_cheap(item))
    count_.longest_wait_ns = std::max(count_.longest_wait_ns, static_cast<std::uint64_t>(waited.count()));
  if (const auto news = policy_.update_load(waited, !cannot_grow())) note(*news, now);
  if (!policy_.is_overloaded() || !policy_.is_late(waited) || !item.can_shed()) return;
  item.mark_expired();
  ++count_.shed;
}

// Moves late items that can be shed to `late`. All workers are stuck, so no worker would shed them.
void worker_pool::shed_late_items(work_fifo& late, time_point now) noexcept {
  work_fifo others;
  for (std::uint64_t kept = 0, taken = 0; taken < most_shed && !queue_.empty();) {
    if (!policy_.is_late(now - ages_.since(kept))) break;  // nor are those behind it
    work_item& item = *queue_.pop();
    if (!item.can_shed()) {
      others.push(item);
      ++kept;
      continue;
    }
    check_wait(item, ages_.remove(kept), now);
    pending_.store(pending_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (!is_cheap(item)) --pending_long_;
    late.push(item);
    ++taken;
  }
  others.push_all(queue_);
  queue_.push_all(others);
}

void worker_pool::note(worker_event what, time_point now) noexcept {
  using enum worker_event;
  switch (what) {
    case grown_at_once:
      ++count_.grown_at_once;
      break;
    case grown_for_latency:
      ++count_.grown_for_latency;
      break;
    case grown_when_stuck:
      ++count_.grown_when_stuck;
      break;
    case refused:
      ++count_.refused;
      break;
    case left_idle:
      ++count_.left_idle;
      break;
    case overload_begins:
      ++count_.overloads;
      break;
    case overload_ends:
      break;
  }
  decisions_[decided_++ % most_decisions] = {now, what, static_cast<unsigned>(workers_.size()),
                                             pending_.load(std::memory_order_relaxed), oldest(now)};
}

std::size_t worker_pool::threads() const {
  const std::lock_guard lock(mutex_);
  return workers_.size();
}

worker_statistics worker_pool::statistics() const {
  const std::lock_guard lock(mutex_);
  worker_statistics now = count_;
  now.threads = workers_.size();
  const std::uint64_t first = decided_ - std::min<std::uint64_t>(decided_, most_decisions);
  for (std::uint64_t i = first; i < decided_; ++i) now.decisions.push_back(decisions_[i % most_decisions]);
  return now;
}

}  // namespace quintet
