// SPDX-License-Identifier: BSL-1.0
// link: changes connections without losing, doubling or reordering messages.
#include "link.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace quintet::bus {

link::link(node_context& node, wire_factory& wires, link_user& user, std::uint64_t id)
    : wire_user(node, id),
      node_(node),
      wires_(wires),
      user_(user),
      unreachable_([this] {
        node_.loop().start(unreachable_, node_.options().unreachable_after);
        user_.unreachable(*this);
      }),
      dialer_(node, *this) {
  node_.add_peer(id);
  node_.loop().start(unreachable_, node_.options().unreachable_after);
}

link::~link() {
  dialer_.stop();
  for (wire* w : {current_, retiring_, arriving_})
    if (w) w->abandon();
  node_.remove_peer(id_);
}

// ---- Connections ----------------------------------------------------------------------------------------------------

hello link::make_hello(bus_route route) const noexcept {
  return {.id = node_.id(),
          .target = id_,
          .epoch = epoch_,
          .known_epoch = peer_epoch_,
          .received = received_,
          .max_message = static_cast<std::uint32_t>(node_.options().max_message),
          .route = route,
          .is_pinned = pinned_.has_value()};
}

// A hello of another epoch may have waited for longer than its sender has lived. So it changes nothing before the start
// frame, which the sender writes when it has this side's answer.
void link::on_hello(wire& w, const hello& h) {
  if (w.is_dialed()) return take_over(w, h);
  if (wire* const earlier = std::exchange(arriving_, &w)) earlier->abandon();
  arrived_ = h;
  w.greet();
  if (peer_epoch_ == 0 || h.epoch == peer_epoch_) take_over(w, h);
}

void link::on_start(wire& w, std::uint64_t number) {
  if (arriving_ == &w) take_over(w, arrived_);
  received_ = std::max(received_, number - 1);  // beyond the next one: the peer has failed the messages before it
}

// Only begin_to_send() can throw. It comes before the effects.
void link::take_over(wire& w, const hello& h) {
  const bool is_successor = peer_epoch_ != 0 && h.epoch != peer_epoch_;
  const bool fails = is_successor && node_.options().on_restart == bus_restart_policy::fail;
  const std::uint64_t known = h.known_epoch == epoch_ ? std::max(h.received, out_.acknowledged()) : out_.acknowledged();
  const std::uint64_t first = (fails ? out_.last() : known) + 1;
  w.begin_to_send(out_.find(first), first);
  if (h.epoch != peer_epoch_) forget_predecessor(h.epoch);
  if (is_successor) node_.counters().peer_restarts.add();
  if (last_route_) node_.counters().resent.add(out_.last() + 1 - first);
  if (!w.is_dialed()) peer_has_pinned_ = h.is_pinned;
  replace_current(w);
  if (fails) return fail_all(system_error_code(ECONNRESET));
  (void)acknowledged(known);
  use_room();
}

// Messages of the predecessor that have not been read are dropped with its connections: its numbers mean nothing now.
void link::forget_predecessor(std::uint64_t epoch) noexcept {
  peer_epoch_ = epoch;
  received_ = 0;
  for (wire* w : {std::exchange(current_, nullptr), std::exchange(retiring_, nullptr)})
    if (w) w->abandon();
}

// All that the peer has not acknowledged goes to the new connection, also what is on its way by the old one: the peer
// drops what it receives twice. So the order of messages never depends on which connection is faster.
void link::replace_current(wire& w) noexcept {
  if (pending_ == &w) pending_ = nullptr;
  if (arriving_ == &w) arriving_ = nullptr;
  wire* const old = std::exchange(current_, &w);
  node_.counters().connections.add();
  if (last_route_ && !old) node_.counters().reconnects.add();
  if (last_route_ && *last_route_ != w.route()) node_.counters().route_changes.add();
  last_route_ = w.route();
  unreachable_.cancel();
  if (wire* const older = std::exchange(retiring_, nullptr)) older->abandon();
  if (old && w.is_dialed())
    old->abandon();
  else
    retiring_ = old;
  dialer_.established(w.route());
  node_.report_route(id_, w.route());
}

void link::on_lost(wire& w) noexcept {
  if (retiring_ == &w) retiring_ = nullptr;
  if (arriving_ == &w) arriving_ = nullptr;
  if (pending_ == &w) {
    pending_ = nullptr;
    return dialer_.pending_lost();
  }
  if (current_ != &w) return;
  current_ = std::exchange(retiring_, nullptr);
  // The peer abandoned its new wire and returned to the previous one; this side resumes there at its cursor.
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
  on_lost(w);
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

// ---- Messages -------------------------------------------------------------------------------------------------------

error_code link::send(bytes payload, completion& done) {
  if (done) awaited_.push_back({out_.last() + 1, {}});
  error_code failed;
  try {
    failed = append({frame_type::message}, {}, payload);
  } catch (...) {
    if (done) awaited_.pop_back();
    throw;
  }
  if (!failed) node_.counters().sent.add();
  if (!done) return failed;
  if (failed)
    awaited_.pop_back();
  else
    awaited_.back().done = std::move(done);
  return failed;
}

bool link::send_posted(bytes payload, completion& done) {
  if (parked_.empty() && !send(payload, done)) return true;
  parked_.push_back({std::string(payload), done});
  return false;
}

bool link::acknowledged(std::uint64_t number) {
  if (number > out_.last()) return false;
  if (number <= out_.acknowledged()) return true;
  out_.acknowledge(number);
  if (!awaited_.empty()) complete(number, {});
  use_room();
  return true;
}

void link::use_room() noexcept {
  if (!was_full_ || !out_.is_half_empty()) return;
  send_parked();
  if (!parked_.empty()) return;
  was_full_ = false;
  node_.report_room(id_);
}

void link::send_parked() noexcept {
  for (; !parked_.empty(); parked_.pop_front()) {
    parked_message& next = parked_.front();
    try {
      if (send(next.payload, next.done)) return;  // full again
    } catch (const std::bad_alloc&) {
      node_.refuse_for_memory(next.done);
    }
    node_.posted().release(mailbox::cost(next.payload.size()));
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
    node_.posted().release(mailbox::cost(m.payload.size()));
    node_.call(m.done, why);
  }
  use_room();
}

}  // namespace quintet::bus
