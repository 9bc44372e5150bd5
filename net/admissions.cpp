// SPDX-License-Identifier: BSL-1.0
// admissions: entering, settling, leaving, and telling the main loop that there is room again.
#include <quintet/net/admissions.hpp>

namespace quintet {

admissions::ticket::~ticket() {
  if (!of_) return;
  of_->leave_network(from_);
  of_->give_back();
}

void admissions::attach(event_loop* loop, std::function<void()> on_room) {
  awaited_ = false;
  loop_ = loop;
  on_room_ = std::move(on_room);
}

admissions::ticket admissions::enter(const address& from) {
  const network of = max_of_network_ == 0 ? std::nullopt : from.network();
  if (!enter_network(of)) return {};
  open_.fetch_add(1);
  return {*this, of};
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
// give_back() sees the flag. If both do, the one that takes the flag back counts, and only one can.
bool admissions::full() noexcept {
  if (max_ == 0 || open_.load() < max_) return false;
  awaited_.store(true);
  return open_.load() >= max_ || !awaited_.exchange(false);
}

void admissions::give_back() noexcept {
  open_.fetch_sub(1);
  if (max_ != 0 && awaited_.exchange(false)) loop_->post(static_cast<work_item&>(*this));
}

// The main loop may be on its way out, with nobody to be told.
void admissions::room_again(work_item& item) noexcept {
  auto& self = static_cast<admissions&>(item);
  if (self.on_room_) self.on_room_();
}

void admissions::settle(ticket place, const void* identity) {
  if (place.from_) {
    const std::lock_guard lock(mutex_);
    settled_.emplace(identity, *place.from_);
  }
  place.of_ = nullptr;
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
