// SPDX-License-Identifier: BSL-1.0
// connection_limiter: acquires and releases permits, and notifies acceptors when there is room again.
#include "connection_limiter.hpp"

namespace quintet {

connection_permit::~connection_permit() {
  if (!limiter_) return;
  limiter_->release_of_network(from_);
  limiter_->give_back();
}

connection_limiter::waiter::waiter(event_loop& l, std::function<void()> f)
    : work_item(&waiter::run_on_room), loop(l), on_room(std::move(f)) {}

// Clears the flag before on_room() reads the limits, so that a later change posts the item again.
void connection_limiter::waiter::run_on_room(work_item& item) noexcept {
  auto& self = static_cast<waiter&>(item);
  self.is_posted.store(false);
  if (self.on_room) self.on_room();
}

void connection_limiter::attach(event_loop& loop, std::function<void()> on_room) {
  waiters_.push_back(std::make_unique<waiter>(loop, std::move(on_room)));
}

void connection_limiter::detach(event_loop& loop) noexcept {
  for (const auto& w : waiters_)
    if (&w->loop == &loop) w->on_room = nullptr;
}

void connection_limiter::notify_waiters() noexcept {
  for (const auto& w : waiters_)
    if (!w->is_posted.exchange(true)) w->loop.post(static_cast<work_item&>(*w));
}

std::optional<connection_permit> connection_limiter::try_acquire(const address& from) {
  connection_permit place = acquire_place();
  if (!place) return std::nullopt;
  return add_network(std::move(place), from);
}

// The place first: it can be given back, but a token cannot.
std::optional<connection_permit> connection_limiter::try_acquire(const address& from, time_point now) {
  connection_permit place = acquire_place();
  if (!place || acquire_rate_token(now) > duration::zero()) return std::nullopt;
  return add_network(std::move(place), from);
}

// Returns an empty permit at max_connections.
connection_permit connection_limiter::acquire_place() noexcept {
  std::size_t open = open_.load();
  do {
    if (max_ != 0 && open >= max_) return {};
  } while (!open_.compare_exchange_weak(open, open + 1));
  return {*this, std::nullopt};
}

// Returns an empty permit at max_connections_per_address. The place is also released if there is no memory.
connection_permit connection_limiter::add_network(connection_permit place, const address& from) {
  const network of = max_of_network_ == 0 ? std::nullopt : from.network();
  if (!acquire_of_network(of)) return {};
  place.from_ = of;
  return place;
}

duration connection_limiter::acquire_rate_token(time_point now) noexcept {
  if (!has_rate_) return {};
  const std::lock_guard lock(rate_mutex_);
  const duration wait = rate_.wait(now);
  if (wait == duration::zero()) rate_.take(now);
  return wait;
}

duration connection_limiter::time_until_rate_token(time_point now) noexcept {
  if (!has_rate_) return {};
  const std::lock_guard lock(rate_mutex_);
  return rate_.wait(now);
}

bool connection_limiter::acquire_of_network(const network& from) {
  if (!from) return true;
  const std::lock_guard lock(mutex_);
  std::size_t& open = of_network_[*from];
  if (open >= max_of_network_) return false;
  ++open;
  return true;
}

void connection_limiter::release_of_network(const network& from) noexcept {
  if (!from) return;
  const std::lock_guard lock(mutex_);
  const auto found = of_network_.find(*from);
  if (--found->second == 0) of_network_.erase(found);
}

// Sets the flag, then reads the count again; give_back() lowers the count, then reads the flag. So this function sees
// the room, or give_back() sees the flag. If both do, the one that clears the flag notifies all waiters, which share
// it.
bool connection_limiter::is_full() noexcept {
  if (max_ == 0 || open_.load() < max_) return false;
  has_waiters_.store(true);
  if (open_.load() >= max_ || !has_waiters_.exchange(false)) return true;
  notify_waiters();
  return false;
}

void connection_limiter::give_back() noexcept {
  open_.fetch_sub(1);
  if (max_ != 0 && has_waiters_.exchange(false)) notify_waiters();
}

void connection_limiter::commit(connection_permit place, const void* identity) {
  if (place.from_) {
    const std::lock_guard lock(mutex_);
    committed_.emplace(identity, *place.from_);
  }
  place.limiter_ = nullptr;
}

void connection_limiter::transfer(const void* from, const void* to) noexcept {
  open_.fetch_add(1);
  if (max_of_network_ == 0) return;
  const std::lock_guard lock(mutex_);
  auto entry = committed_.extract(from);
  if (!entry) return;
  entry.key() = to;
  committed_.insert(std::move(entry));  // reuses the node: no allocation
}

connection_permit connection_limiter::release(const void* identity) noexcept {
  network from;
  if (max_of_network_ != 0) {
    const std::lock_guard lock(mutex_);
    if (const auto found = committed_.find(identity); found != committed_.end()) {
      from = found->second;
      committed_.erase(found);
    }
  }
  return {*this, from};
}

}  // namespace quintet
