// SPDX-License-Identifier: BSL-1.0
// link: changes connections without losing, doubling or reordering messages.
#include "link.hpp"

#include "node.hpp"
#include "wire.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace quintet::bus {

link::link(node& owner, std::uint64_t id)
    : node_(owner),
      id_(id),
      epoch_(owner.random()() | 1U),  // not 0
      out_(owner.chunks(), owner.options().max_unacknowledged),
      unreachable_([this] {
        node_.loop().start(unreachable_, node_.options().unreachable_after);
        node_.unreachable(*this);
      }),
      dialer_(owner, *this) {
  node_.loop().start(unreachable_, node_.options().unreachable_after);
}

link::~link() {
  dialer_.stop();
  for (wire* w : {std::exchange(current_, nullptr), std::exchange(retiring_, nullptr)})
    if (w) w->abandon();
}

// ---- Connections ----------------------------------------------------------------------------------------------------

hello link::make_hello(bus_route route) const {
  return {.id = node_.id(),
          .target = id_,
          .epoch = epoch_,
          .known_epoch = peer_epoch_,
          .received = received_,
          .max_message = static_cast<std::uint32_t>(node_.options().max_message),
          .route = route,
          .is_pinned = pinned_.has_value()};
}

bool link::establish(wire& w, const hello& h) {
  if (pending_ == &w) pending_ = nullptr;
  if (h.epoch == 0) return false;
  if (h.epoch != peer_epoch_) note_epoch(h);
  if (h.known_epoch == epoch_ && h.received > out_.acknowledged() && !acknowledged(h.received)) return false;
  if (!w.is_dialed()) {
    peer_has_pinned_ = h.is_pinned;
    w.answer(make_hello(w.route()));
  }
  replace_current(w);
  return true;
}

// Messages of the predecessor that have not been read are dropped with its connections: its numbers mean nothing now.
void link::note_epoch(const hello& h) {
  const bool is_successor = peer_epoch_ != 0;
  peer_epoch_ = h.epoch;
  received_ = 0;
  for (wire* w : {std::exchange(current_, nullptr), std::exchange(retiring_, nullptr)})
    if (w) w->abandon();
  if (!is_successor) return;
  node_.counters().peer_restarts.add();
  if (node_.options().on_restart == bus_restart_policy::fail) fail_all(system_error_code(ECONNRESET));
}

// All that the peer has not acknowledged goes to the new connection, also what is on its way by the old one: the peer
// drops what it receives twice. So the order of messages never depends on which connection is faster.
void link::replace_current(wire& w) {
  wire* const old = std::exchange(current_, &w);
  node_.counters().connections.add();
  if (last_route_ && !old) node_.counters().reconnects.add();
  if (last_route_ && *last_route_ != w.route()) node_.counters().route_changes.add();
  if (last_route_) node_.counters().resent.add(out_.last() - out_.acknowledged());
  last_route_ = w.route();
  unreachable_.cancel();
  const std::uint64_t first = out_.acknowledged() + 1;
  w.begin_to_send(out_.find(first), first);
  if (wire* const older = std::exchange(retiring_, nullptr)) older->abandon();
  if (old && w.is_dialed())
    old->abandon();
  else
    retiring_ = old;
  dialer_.established(w.route());
  node_.report_route(id_, w.route());
}

// A number beyond the next one: the peer has failed the messages before it.
bool link::start_at(std::uint64_t number) noexcept {
  if (number == 0) return false;
  received_ = std::max(received_, number - 1);
  return true;
}

void link::lost(wire& w) noexcept {
  if (retiring_ == &w) retiring_ = nullptr;
  if (pending_ == &w) {
    pending_ = nullptr;
    return dialer_.pending_lost();
  }
  if (current_ != &w) return;
  current_ = std::exchange(retiring_, nullptr);
  // The peer has given up its new connection, and goes on with the one before. So does this side, where it stopped.
  if (current_) return continue_on(*current_);
  peer_has_pinned_ = false;
  if (!node_.loop().stopping()) node_.loop().start(unreachable_, node_.options().unreachable_after);
  dialer_.current_lost();
  node_.report_route(id_, std::nullopt);
}

void link::continue_on(wire& w) noexcept try {
  w.request_flush();
  last_route_ = w.route();
  dialer_.established(w.route());
  node_.report_route(id_, w.route());
} catch (const std::bad_alloc&) {  // as if it was lost as well
  w.abandon();
  lost(w);
}

void link::abandon_pending() noexcept {
  if (wire* const w = std::exchange(pending_, nullptr)) w->abandon();
}

bool link::wants(bus_route route) const noexcept {
  if (!current_) return true;
  const bus_route present = current_->route();
  if (pinned_) return route == *pinned_ && present != *pinned_;
  return !peer_has_pinned_ && route < present;
}

void link::pin(std::optional<bus_route> route) {
  pinned_ = route;
  dialer_.prefer(route);
}

// ---- Messages -------------------------------------------------------------------------------------------------------

bool link::acknowledged(std::uint64_t number) {
  if (number > out_.last()) return false;
  if (number <= out_.acknowledged()) return true;
  out_.acknowledge(number);
  if (!awaited_.empty()) complete(number, {});
  if (was_full_ && out_.is_half_empty()) use_room();
  return true;
}

void link::use_room() {
  if (!was_full_) return;
  send_parked();
  if (!parked_.empty()) return;
  was_full_ = false;
  node_.report_room(id_);
}

void link::send_parked() {
  while (!parked_.empty()) {
    parked_message& next = parked_.front();
    if (node_.send_on(*this, next.payload, next.done)) return;  // full again
    node_.release_posted(posted_cost(next.payload.size()));
    parked_.pop_front();
  }
}

void link::complete(std::uint64_t up_to, error_code why) noexcept {
  while (!awaited_.empty() && awaited_.front().number <= up_to) {
    const completion done = std::move(awaited_.front().done);
    awaited_.pop_front();
    node_.call(done, why);
  }
}

void link::fail_all(error_code why) noexcept {
  node_.counters().failed.add(out_.last() - out_.acknowledged());
  out_.drop_all();
  complete(out_.last(), why);
  for (; !parked_.empty(); node_.counters().failed.add()) {
    const parked_message m = std::move(parked_.front());
    parked_.pop_front();
    node_.release_posted(posted_cost(m.payload.size()));
    if (m.done) node_.call(m.done, why);
  }
}

}  // namespace quintet::bus
