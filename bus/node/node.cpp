// SPDX-License-Identifier: BSL-1.0
// node: makes and destroys links; sends, delivers and forwards messages.
#include "node.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace quintet::bus {
namespace {

constexpr std::size_t most_learned = 4096;

// The results that a receipt carries. Their indices do not depend on the system.
constexpr std::uint32_t no_route = 1;
std::array<error_code, 4> results() noexcept {
  return {error_code(), system_error_code(EHOSTUNREACH), system_error_code(ELOOP), errc::output_full};
}
std::uint32_t index_of(error_code result) noexcept {
  const auto all = results();
  const auto found = std::ranges::find(all, result);
  return found == all.end() ? no_route : static_cast<std::uint32_t>(found - all.begin());
}
error_code result_at(std::uint32_t index) noexcept { return results()[index < results().size() ? index : no_route]; }

}  // namespace

node::node(bus_options options)
    : context_(std::move(options)),
      wires_(context_, [this](const hello& h) { return link_for_accepted(h); }),
      receipts_(context_, [this] {
        for (auto& [id, l] : links_) l->use_room();
      }) {}

// The loop outlives the links, and destroys connections that have not ended.
node::~node() {
  finish();
  links_.clear();
}

void node::finish() noexcept {
  context_.end();
  context_.posted().close();
  take_posted();
  for (auto& [id, l] : links_) {
    l->stop_dialing();
    l->fail_all(errc::stopped);
  }
  receipts_.fail_all(errc::stopped);
  wires_.close();
}

link* node::find(std::uint64_t id) const noexcept {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second.get();
}

link& node::make_link(std::uint64_t id) {
  if (link* const l = find(id)) return *l;
  auto fresh = std::make_unique<link>(context_, wires_, static_cast<link_user&>(*this), id);
  return *links_.emplace(id, std::move(fresh)).first->second;
}

// Callbacks may send to this peer: it has no link any more.
void node::end_link(std::uint64_t id, error_code why) noexcept {
  const auto ended = links_.extract(id);
  if (ended.empty()) return;
  last_ = nullptr;
  if (ended.mapped()->is_connected()) context_.report_route(id, std::nullopt);
  ended.mapped()->fail_all(why);
}

void node::connect(std::uint64_t peer, std::vector<candidate> all) noexcept try {
  if (!context_.has_ended()) make_link(peer).connect(std::move(all));
} catch (const std::bad_alloc&) {  // as if no address worked; the caller may connect again
  context_.report_route(peer, std::nullopt);
}

// Fails the messages by a post: the timer that calls this belongs to the link, and has started again.
void node::unreachable(link& l) try {
  context_.loop().post([this, id = l.id()]() noexcept {
    link* const found = find(id);
    if (!found || found->is_connected()) return;
    const error_code why = system_error_code(ETIMEDOUT);
    found->is_dialing() ? found->fail_all(why) : end_link(id, why);
  });
} catch (const std::bad_alloc&) {  // the timer calls again
}

// Both sides may connect at the same time. Then the connection of the smaller id stays.
link* node::link_for_accepted(const hello& h) {
  if (link* const l = find(h.id)) return l->has_pending() && context_.id() < h.id ? nullptr : l;
  return links_.size() < context_.options().max_peers ? &make_link(h.id) : nullptr;
}

// ---- Sending --------------------------------------------------------------------------------------------------------

error_code node::send(std::uint64_t to, bytes payload, completion done) {
  if (!done) return send(to, payload);
  if (payload.size() > context_.options().max_message) return errc::message_too_big;
  link* const l = find(to);
  return l ? l->send(payload, done) : send_routed(to, payload, std::move(done));
}

// A message to this node is not delivered within this call: a handler that sends it must end first.
error_code node::send_routed(std::uint64_t to, bytes payload, completion done) {
  if (to == context_.id()) return post(to, payload, std::move(done));
  link* const by = next_hop(to, nullptr);
  if (!by) {
    context_.counters().unroutable.add();
    return system_error_code(EHOSTUNREACH);
  }
  const bool wants = static_cast<bool>(done);
  if (wants && receipts_.is_full()) return by->note_full(), errc::output_full;
  const auto encoded = encode(routing{context_.id(), to, wants ? receipts_.next_tag() : 0});
  const std::uint8_t flags = wants ? wants_receipt : 0;
  if (wants) receipts_.add(std::move(done));
  try {
    const error_code failed = by->append({frame_type::routed, flags}, {encoded.data(), encoded.size()}, payload);
    if (failed && wants) receipts_.drop_last();
    if (!failed) context_.counters().sent.add();
    return failed;
  } catch (...) {
    if (wants) receipts_.drop_last();
    throw;
  }
}

error_code node::post(std::uint64_t to, bytes payload, completion done) {
  if (payload.size() > context_.options().max_message) return errc::message_too_big;
  return context_.posted().post(to, payload, std::move(done),
                                [this] { context_.loop().post([this]() noexcept { take_posted(); }); });
}

void node::take_posted() {
  std::string payloads;
  std::vector<mailbox::message> messages;
  const bool is_closed = context_.posted().take(payloads, messages);
  std::size_t released = 0, at = 0;
  for (mailbox::message& m : messages) {
    const bytes payload = bytes(payloads).substr(std::exchange(at, at + m.size), m.size);
    if (!is_closed && !take_one(m, payload)) continue;
    if (is_closed) context_.call(m.done, errc::stopped);
    released += mailbox::cost(m.size);
  }
  context_.posted().release(released);
}

// Returns false if the message waits in a link.
bool node::take_one(mailbox::message& m, bytes payload) noexcept try {
  if (m.to == context_.id()) {
    context_.counters().sent.add();
    context_.guarded([&] {
      context_.add({m.to, payload});
      context_.deliver();
    });
    context_.call(m.done, {});
  } else if (link* const l = find(m.to)) {
    return l->send_posted(payload, m.done);
  } else if (const error_code failed = send_routed(m.to, payload, m.done)) {
    if (failed == errc::output_full) context_.counters().refused.add();
    context_.call(m.done, failed);
  }
  return true;
} catch (const std::bad_alloc&) {
  return context_.refuse_for_memory(m.done), true;
}

// ---- Forwarding -----------------------------------------------------------------------------------------------------

link* node::next_hop(std::uint64_t to, const link* from) const noexcept {
  const auto usable = [from](link* l) { return l && l != from; };
  if (link* const direct = find(to); usable(direct)) return direct;
  if (const auto known = learned_.find(to); known != learned_.end())
    if (link* const by = find(known->second); usable(by)) return by;
  link* const up = context_.options().parent ? find(*context_.options().parent) : nullptr;
  return usable(up) ? up : nullptr;
}

// Answers to nodes behind a child find their way back. When the table is full, it begins anew. Without memory, the next
// message of that node is noted.
void node::learn(std::uint64_t source, const link& by) noexcept try {
  if (source == context_.id() || source == by.id() || links_.contains(source)) return;
  if (learned_.size() >= most_learned) learned_.clear();
  learned_[source] = by.id();
} catch (const std::bad_alloc&) {
}

void node::routed(link& from, const frame_header& h, const routing& r, bytes body) {
  const bytes payload = body.substr(routing_size);
  learn(r.source, from);
  if (r.destination == context_.id()) {
    if ((h.flags & is_receipt) != 0) {
      context_.deliver();
      return receipts_.take(r.tag, result_at(load<std::uint32_t>(payload)));
    }
    context_.add({r.source, payload});
    return send_receipt(r, h.flags, {});
  }
  const error_code failed = forward(from, h, r.destination, body);
  if (!failed) return context_.counters().forwarded.add();
  (failed == errc::output_full ? context_.counters().refused : context_.counters().unroutable).add();
  send_receipt(r, h.flags, failed);
}

// The message counts as received. So it is refused, and counted, where there is no memory for it.
error_code node::forward(const link& from, const frame_header& h, std::uint64_t to, bytes body) noexcept try {
  if (h.hops >= context_.options().max_hops) return system_error_code(ELOOP);
  link* const by = next_hop(to, &from);
  if (!by) return system_error_code(EHOSTUNREACH);
  return by->append({frame_type::routed, h.flags, static_cast<std::uint8_t>(h.hops + 1)}, {}, body);
} catch (const std::bad_alloc&) {
  return errc::output_full;
}

// A receipt that cannot be sent is lost: the source's completion then times out.
void node::send_receipt(const routing& r, std::uint8_t flags, error_code why) noexcept try {
  if ((flags & wants_receipt) == 0) return;
  if (r.source == context_.id()) return receipts_.take(r.tag, why);
  link* const by = next_hop(r.source, nullptr);
  if (!by) return;
  const auto encoded = encode(routing{context_.id(), r.source, r.tag});
  std::array<char, sizeof(std::uint32_t)> result{};
  store(result.data(), index_of(why));
  (void)by->append({frame_type::routed, is_receipt}, {encoded.data(), encoded.size()}, {result.data(), result.size()});
} catch (const std::bad_alloc&) {
}

}  // namespace quintet::bus
