// SPDX-License-Identifier: BSL-1.0
// admissions: entering, settling, leaving, and telling who accepts that there is room again.
#include "admissions.hpp"

namespace quintet {

admissions::ticket::~ticket() {
  if (!of_) return;
  of_->leave_network(from_);
  of_->give_back();
}

admissions::waiter::waiter(event_loop& l, std::function<void()> f)
    : work_item(&waiter::told), loop(l), on_room(std::move(f)) {}

// The note is taken back before anything is looked at: what happens after that is news again.
void admissions::waiter::told(work_item& item) noexcept {
  auto& self = static_cast<waiter&>(item);
  self.on_its_way.store(false);
  if (self.on_room) self.on_room();
}

void admissions::attach(event_loop& loop, std::function<void()> on_room) {
  waiters_.push_back(std::make_unique<waiter>(loop, std::move(on_room)));
}

void admissions::detach(event_loop& loop) noexcept {
  for (const auto& w : waiters_)
    if (&w->loop == &loop) w->on_room = nullptr;
}

void admissions::tell_waiters() noexcept {
  for (const auto& w : waiters_)
    if (!w->on_its_way.exchange(true)) w->loop.post(static_cast<work_item&>(*w));
}

std::optional<admissions::ticket> admissions::enter(const address& from) {
  std::size_t open = open_.load();
  do {
    if (max_ != 0 && open >= max_) return std::nullopt;
  } while (!open_.compare_exchange_weak(open, open + 1));
  const network of = max_of_network_ == 0 ? std::nullopt : from.network();
  ticket place(*this, std::nullopt);  // given back as well when there is no memory for the network
  if (!enter_network(of)) return ticket();
  place.from_ = of;
  return place;
}

duration admissions::take_turn(time_point now) noexcept {
  if (!has_rate_) return {};
  const std::lock_guard lock(rate_mutex_);
  const duration wait = rate_.wait(now);
  if (wait == duration::zero()) rate_.take(now);
  return wait;
}

duration admissions::turn_comes_in(time_point now) noexcept {
  if (!has_rate_) return {};
  const std::lock_guard lock(rate_mutex_);
  return rate_.wait(now);
}

bool admissions::enter_network(const network& from) {
  if (!from) return true;
  const std::lock_guard lock(mutex_);
  std::size_t& open = of_network_[*from];
  if (open >= max_of_network_) return false;
  ++open;
  return true;
}

void admissions::leave_network(const network& from) noexcept {
  if (!from) return;
  const std::lock_guard lock(mutex_);
  const auto found = of_network_.find(*from);
  if (--found->second == 0) of_network_.erase(found);
}

// First the flag, then a second look; give_back() does it the other way round. So either this sees the room, or
// give_back() sees the flag. If both do, the one that takes the flag back counts, and tells all: it is everybody's
// flag.
bool admissions::full() noexcept {
  if (max_ == 0 || open_.load() < max_) return false;
  awaited_.store(true);
  if (open_.load() >= max_ || !awaited_.exchange(false)) return true;
  tell_waiters();
  return false;
}

void admissions::give_back() noexcept {
  open_.fetch_sub(1);
  if (max_ != 0 && awaited_.exchange(false)) tell_waiters();
}

void admissions::settle(ticket place, const void* identity) {
  if (place.from_) {
    const std::lock_guard lock(mutex_);
    settled_.emplace(identity, *place.from_);
  }
  place.of_ = nullptr;
}

void admissions::hand_on(const void* from, const void* to) noexcept {
  open_.fetch_add(1);
  if (max_of_network_ == 0) return;
  const std::lock_guard lock(mutex_);
  auto entry = settled_.extract(from);
  if (!entry) return;
  entry.key() = to;
  settled_.insert(std::move(entry));  // into the room that it has left
}

admissions::ticket admissions::leave(const void* identity) noexcept {
  network from;
  if (max_of_network_ != 0) {
    const std::lock_guard lock(mutex_);
    if (const auto found = settled_.find(identity); found != settled_.end()) {
      from = found->second;
      settled_.erase(found);
    }
  }
  return {*this, from};
}

}  // namespace quintet
