// SPDX-License-Identifier: BSL-1.0
// node_messages: sends, delivers and forwards messages.
#include "node.hpp"

#include <cerrno>
#include <utility>

namespace quintet::bus {
namespace {

constexpr std::size_t most_learned = 4096;

// The results that a receipt carries, as numbers that do not depend on the system.
enum class receipt_result : std::uint32_t { delivered, no_route, too_many_hops, full };

receipt_result result_of(error_code why) noexcept {
  if (!why) return receipt_result::delivered;
  if (why == system_error_code(ELOOP)) return receipt_result::too_many_hops;
  return why == errc::output_full ? receipt_result::full : receipt_result::no_route;
}

error_code error_of(std::uint32_t result) noexcept {
  switch (static_cast<receipt_result>(result)) {
    case receipt_result::delivered:
      return {};
    case receipt_result::too_many_hops:
      return system_error_code(ELOOP);
    case receipt_result::full:
      return errc::output_full;
    default:
      return system_error_code(EHOSTUNREACH);
  }
}

bytes view_of(const std::array<char, routing_size>& encoded) noexcept { return {encoded.data(), encoded.size()}; }

}  // namespace

void node::deliver() {
  if (batch_size_ == 0) return;
  const std::span<const bus_message> all(batch_.data(), std::exchange(batch_size_, 0));
  counters_.delivered.add(all.size());
  if (options_.on_messages) options_.on_messages(all);
}

// ---- Sending --------------------------------------------------------------------------------------------------------

error_code node::send(std::uint64_t to, bytes payload, completion done) {
  link* const l = find(to);
  if (!done) return send(to, payload);
  if (payload.size() > options_.max_message) return errc::message_too_big;
  if (!l) return send_routed(to, payload, std::move(done));
  return send_on(*l, payload, done);
}

error_code node::send_on(link& l, bytes payload, completion& done) {
  if (!done) {
    const error_code failed = append(l, {frame_type::message}, {}, payload);
    if (!failed) counters_.sent.add();
    return failed;
  }
  l.prepare_await();
  try {
    if (const error_code failed = append(l, {frame_type::message}, {}, payload)) return l.cancel_await(), failed;
  } catch (...) {
    l.cancel_await();
    throw;
  }
  l.await(std::move(done));
  counters_.sent.add();
  return {};
}

error_code node::send_routed(std::uint64_t to, bytes payload, completion done) {
  if (to == id()) return send_to_self(payload, std::move(done));
  link* const by = next_hop(to, nullptr);
  if (!by) {
    counters_.unroutable.add();
    return system_error_code(EHOSTUNREACH);
  }
  const bool wants = static_cast<bool>(done);
  if (wants && receipts_->is_full()) return by->note_full(), errc::output_full;
  std::array<char, routing_size> encoded{};
  encode(encoded.data(), routing{id(), to, wants ? receipts_->next_tag() : 0});
  const std::uint8_t flags = wants ? wants_receipt : 0;
  if (wants) receipts_->add(std::move(done));
  try {
    const error_code failed = append(*by, {frame_type::routed, flags}, view_of(encoded), payload);
    if (failed && wants) receipts_->drop_last();
    if (!failed) counters_.sent.add();
    return failed;
  } catch (...) {
    if (wants) receipts_->drop_last();
    throw;
  }
}

// Not within this call: a handler that sends to itself must end first.
error_code node::send_to_self(bytes payload, completion done) {
  const std::size_t cost = posted_cost(payload.size());
  {
    const std::lock_guard lock(posted_mutex_);
    if (has_finished_) return errc::stopped;
    if (posted_size_ + cost > options_.max_posted) return errc::output_full;
    loop().post([this, copy = std::string(payload), d = std::move(done), cost]() noexcept {
      release_posted(cost);
      if (!has_ended_) deliver_to_self(copy);
      if (d) call(d, has_ended_ ? error_code(errc::stopped) : error_code());
    });
    posted_size_ += cost;
  }
  counters_.sent.add();
  return {};
}

void node::deliver_to_self(bytes payload) noexcept try {
  add({id(), payload});
  deliver();
} catch (...) {
  loop().counters().handler_errors.add();
}

error_code node::post(std::uint64_t to, bytes payload, completion done) {
  if (payload.size() > options_.max_message) return errc::message_too_big;
  const std::lock_guard lock(posted_mutex_);
  if (has_finished_) return errc::stopped;
  const std::size_t cost = posted_cost(payload.size());
  if (posted_size_ + cost > options_.max_posted) return errc::output_full;
  if (!is_posted_) loop().post([this]() noexcept { take_posted(); });
  is_posted_ = true;
  posted_.push_back({to, payload.size(), std::move(done)});
  try {
    posted_bytes_.append(payload);
  } catch (...) {
    posted_.pop_back();
    throw;
  }
  posted_size_ += cost;
  return {};
}

void node::release_posted(std::size_t size) noexcept {
  const std::lock_guard lock(posted_mutex_);
  posted_size_ -= size;
}

void node::take_posted() {
  std::string all;
  std::vector<posted_message> messages;
  bool has_finished = false;
  {
    const std::lock_guard lock(posted_mutex_);
    is_posted_ = false;
    has_finished = has_finished_;
    all.swap(posted_bytes_);
    messages.swap(posted_);
  }
  std::size_t released = 0;
  for (std::size_t at = 0; posted_message & m : messages) {
    const bytes payload = bytes(all).substr(at, m.size);
    at += m.size;
    if (!has_finished && !take_one(m, payload)) continue;
    if (has_finished && m.done) call(m.done, errc::stopped);
    released += posted_cost(m.size);
  }
  release_posted(released);
}

// Returns false if the message waits in a link.
bool node::take_one(posted_message& m, bytes payload) noexcept try {
  if (m.to == id()) {
    counters_.sent.add();
    deliver_to_self(payload);
    if (m.done) call(m.done, {});
    return true;
  }
  link* const l = find(m.to);
  if (!l) {
    const error_code failed = send_routed(m.to, payload, m.done);
    if (failed == errc::output_full) counters_.refused.add();
    if (failed && m.done) call(m.done, failed);
    return true;
  }
  if (!l->has_parked() && !send_on(*l, payload, m.done)) return true;
  l->park(payload, m.done);
  return false;
} catch (const std::bad_alloc&) {
  return refuse_for_memory(m.done), true;
}

// ---- Forwarding -----------------------------------------------------------------------------------------------------

link* node::next_hop(std::uint64_t to, const link* from) noexcept {
  const auto usable = [from](link* l) { return l && l != from; };
  const auto at = [this](std::uint64_t peer) {
    const auto found = links_.find(peer);
    return found == links_.end() ? nullptr : found->second.get();
  };
  if (link* const direct = at(to); usable(direct)) return direct;
  if (const auto known = learned_.find(to); known != learned_.end())
    if (link* const by = at(known->second); usable(by)) return by;
  link* const up = options_.parent ? at(*options_.parent) : nullptr;
  return usable(up) ? up : nullptr;
}

// Answers to nodes behind a child find their way back. When the table is full, it begins anew.
void node::learn(std::uint64_t source, const link& by) {
  if (source == id() || source == by.id() || links_.contains(source)) return;
  if (learned_.size() >= most_learned) learned_.clear();
  learned_[source] = by.id();
}

void node::take_routed(link& from, const frame_header& h, const routing& r, bytes body) {
  const bytes payload = body.substr(routing_size);
  learn(r.source, from);
  if (r.destination == id()) {
    if ((h.flags & is_receipt) != 0) {
      deliver();
      return receipts_->take(r.tag, error_of(load<std::uint32_t>(payload)));
    }
    add({r.source, payload});
    return give_back(r, h.flags, {});
  }
  error_code failed = system_error_code(ELOOP);
  if (h.hops < options_.max_hops) {
    link* const to = next_hop(r.destination, &from);
    const frame_header passed{frame_type::routed, h.flags, static_cast<std::uint8_t>(h.hops + 1)};
    failed = to ? append(*to, passed, {}, body) : system_error_code(EHOSTUNREACH);
  }
  if (!failed) return counters_.forwarded.add();
  (failed == errc::output_full ? counters_.refused : counters_.unroutable).add();
  give_back(r, h.flags, failed);
}

// A receipt that cannot be sent is lost: the source's completion then times out.
void node::give_back(const routing& r, std::uint8_t flags, error_code why) {
  if ((flags & wants_receipt) == 0) return;
  if (r.source == id()) return receipts_->take(r.tag, why);
  link* const by = next_hop(r.source, nullptr);
  if (!by) return;
  std::array<char, routing_size> encoded{};
  encode(encoded.data(), routing{id(), r.source, r.tag});
  std::array<char, sizeof(std::uint32_t)> result{};
  store(result.data(), static_cast<std::uint32_t>(result_of(why)));
  (void)append(*by, {frame_type::routed, is_receipt}, view_of(encoded), {result.data(), result.size()});
}

}  // namespace quintet::bus
