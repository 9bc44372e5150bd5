// SPDX-License-Identifier: BSL-1.0
// connection_registry: slots with generations, and the messages to connections.
#include "connection_registry.hpp"

#include "../../base/work/next_number.hpp"
#include "connection.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <random>
#include <unordered_map>
#include <utility>

namespace quintet {
namespace {

/// Registry numbers repeat after 2^28, so an id of a destroyed server fits no later server before that.
std::uint32_t registry_number() noexcept {
  return static_cast<std::uint32_t>(next_number<connection_registry>() % (1U << 28U));
}

}  // namespace

connection_registry::connection_registry(std::size_t max_pending_bytes)
    : max_pending_bytes_(max_pending_bytes), number_(registry_number()) {}

// [loop]
void connection_message::arrive(work_item& item) noexcept {
  std::unique_ptr<connection_message> self(static_cast<connection_message*>(&item));
  if (connection* c = self->registry_.arrived(self->to_, self->cost_, self->needs_baton_))
    detail::connection_handoff::take(*c, std::move(self));
}

void connection_registry::send_to(connection& c, const shared_bytes& data) noexcept {
  c.fail_if(c.output_.send_message(c, data));
}

// To connections of one loop. A connection whose handler is in the middle of writing gets a message of its own.
class connection_registry::broadcast_message final : public work_item {
 public:
  broadcast_message(connection_registry& r, shared_bytes data)
      : work_item(&broadcast_message::arrive), registry_(r), data_(std::move(data)) {}
  [[nodiscard]] static std::size_t cost_of(const shared_bytes& data) noexcept {
    return data->size() + sizeof(shared_bytes) + connection_message::overhead;
  }
  std::vector<connection_id> to;

 private:
  static void arrive(work_item& item) noexcept {
    const std::unique_ptr<broadcast_message> self(static_cast<broadcast_message*>(&item));
    for (const connection_id id : self->to)
      if (connection* c = self->registry_.arrived(id, cost_of(self->data_))) self->send(*c, id);
  }
  void send(connection& c, connection_id id) noexcept try {
    if (c.takes_bytes_now()) return send_to(c, data_);
    auto later = [data = data_](connection& when_it_may) { send_to(when_it_may, data); };
    static_assert(sizeof later == sizeof data_);  // so that it costs what was counted
    detail::connection_handoff::take(
        c, std::make_unique<call_message<decltype(later)>>(registry_, id, false, std::move(later), data_->size()));
  } catch (const std::bad_alloc&) {
    c.out_of_memory();
  }

  connection_registry& registry_;
  shared_bytes data_;
};

// Runs f(connection&) on the loop at once: wherever the baton is, even in the middle of a message.
template <class F>
class connection_registry::connection_task final : public work_item {
 public:
  connection_task(connection_registry& r, connection_id to, F f) noexcept
      : work_item(&connection_task::arrive), registry_(r), to_(to), function_(f) {}

 private:
  static void arrive(work_item& item) noexcept {
    std::unique_ptr<connection_task> self(static_cast<connection_task*>(&item));
    if (connection* c = self->registry_.arrived(self->to_, 0)) return self->function_(*c);
    connection_registry& registry = self->registry_;
    (void)registry.post_task(std::move(self));  // the connection has migrated: follow it
  }
  friend connection_registry;
  connection_registry& registry_;
  connection_id to_;
  F function_;
};

template <class F>
error_code connection_registry::run_task(connection_id to, F f, std::uint8_t once) {
  return post_task(std::make_unique<connection_task<F>>(*this, to, f), once);
}

template <class F>
error_code connection_registry::post_task(std::unique_ptr<connection_task<F>> message, std::uint8_t once) noexcept {
  shard& s = shard_of(message->to_);
  const std::lock_guard lock(s.mutex);
  const slot* const found = living(s, message->to_);
  if (!found) return errc::no_such_connection;
  if (once != 0 && found->holder->posts_.set(static_cast<detail::connection_posts::note>(once))) return {};
  found->holder->loop().post(static_cast<work_item&>(*message.release()));
  return {};
}

error_code connection_registry::evict(connection_id which, std::uint32_t silent_for) {
  return run_task(which, [silent_for](connection& c) {
    if (c.has_ended() || c.is_lingering() || c.silence_.looks() < silent_for) return;
    // An overloaded loop has not received what arrived meanwhile. A peer that waits for an answer may be silent.
    if (c.baton_is_out() || c.loop_.io().has_unread(c)) return c.silence_.end();
    c.loop_.counters().evicted.add();
    c.fail(errc::heartbeat_timeout);
  });
}

error_code connection_registry::abort(connection_id which) {
  return run_task(
      which, [](connection& c) { c.fail_for_good(cancel_reason::aborted); }, detail::connection_posts::abort_is_posted);
}

error_code connection_registry::cancel(connection_id which) {
  return run_task(which, [](connection& c) { c.cancel_request(); });
}

error_code connection_registry::cancel(cancel_key key) {
  connection_id which;
  {
    const std::lock_guard lock(keys_mutex_);
    if (const auto found = keys_.find(key); found != keys_.end()) which = found->second;
  }
  if (!which) wrong_keys_.fetch_add(1, std::memory_order_relaxed);
  return which ? cancel(which) : errc::no_such_connection;
}

cancel_key connection_registry::make_key(connection_id for_whom) {
  std::random_device random;
  const std::lock_guard lock(keys_mutex_);
  for (;;) {
    const auto key = cancel_key(std::uint64_t{random()} << 32U | random());
    if (key != cancel_key() && keys_.emplace(key, for_whom).second) return key;
  }
}

void connection_registry::forget_key(cancel_key key) noexcept {
  const std::lock_guard lock(keys_mutex_);
  keys_.erase(key);
}

template <class F>
bool connection_registry::visit(scan_position& from, std::size_t most, F f) {
  const shard& s = shards_[from.shard];
  const std::lock_guard lock(s.mutex);
  const std::size_t to = std::min(s.slots.size(), from.slot + most);
  for (std::size_t i = from.slot; i < to; ++i)
    if (s.slots[i].holder) f(id_of(from.shard, i), *s.slots[i].holder);
  from.slot = to;
  if (to == s.slots.size()) from = {from.shard + 1, 0};
  return from.shard < connection_shards;
}

bool connection_registry::find_silent(scan_position& from, std::size_t most, std::vector<silent_connection>& found) {
  return visit(from, most, [&](connection_id id, connection& c) {
    const std::uint32_t looks = c.silence_.look();
    if (looks > 0 && found.size() < found.capacity()) found.push_back({id, looks});
  });
}

bool connection_registry::mark(scan_position& from, std::size_t most) {
  return visit(from, most, [](connection_id, connection& c) { c.silence_.mark(); });
}

bool connection_registry::find_movable(scan_position& from, std::size_t most, std::vector<movable_connection>& found) {
  return visit(from, most, [&](connection_id id, connection& c) {
    if (c.constants_.can_move) found.push_back({id, &c.loop(), c.silence_.is_marked()});
  });
}

void connection_registry::end_moves() noexcept {
  for (shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    s.ends_moves = true;
  }
}

error_code connection_registry::send(connection_id to, shared_bytes data) {
  const std::size_t size = data->size();
  return deliver(to, kind::data, [data = std::move(data)](connection& c) { send_to(c, data); }, size);
}

error_code connection_registry::close(connection_id which) {
  return deliver(which, kind::close, [](connection& c) { detail::connection_handoff::ask_to_close(c); });
}

// One message at a time stands for all changes until it has run. A closed connection has nothing to throttle.
void connection_registry::throttle(connection_id source, int change) {
  auto apply = [this](connection& c) { c.throttle(take_throttle_change(c)); };
  auto message = std::make_unique<call_message<decltype(apply)>>(*this, source, false, std::move(apply), 0);
  shard& s = shard_of(source);
  const std::lock_guard lock(s.mutex);
  slot* const found = living(s, source);
  if (!found) return;
  found->holder->posts_.throttle_change_ += change;
  if (!found->holder->posts_.set(detail::connection_posts::throttle_is_posted))
    post_under_lock(*found, std::move(message));
}

int connection_registry::take_throttle_change(connection& c) noexcept {
  const std::lock_guard lock(shard_of(c.id_).mutex);
  c.posts_.set(detail::connection_posts::throttle_is_posted, false);
  const int change = c.posts_.throttle_change_;
  c.posts_.throttle_change_ = 0;
  return change;
}

// Posts under the lock: a loop ends only after its connections have left, and they leave under the same lock.
error_code connection_registry::deliver_message(connection_id to, kind what,
                                                std::unique_ptr<connection_message> message) {
  shard& s = shard_of(to);
  const std::lock_guard lock(s.mutex);
  slot* const found = living(s, to);
  if (!found) return errc::no_such_connection;
  const bool is_bounded = what == kind::data || what == kind::call;
  if ((what == kind::data && found->holder->posts_.has(detail::connection_posts::refuses_sends)) ||
      (is_bounded && !has_room(*found)))
    return errc::output_full;
  // The first close counts: later ones would only queue behind it.
  if (what != kind::close || !found->holder->posts_.set(detail::connection_posts::close_is_posted))
    post_under_lock(*found, std::move(message));
  return {};
}

void connection_registry::post_under_lock(slot& to, std::unique_ptr<connection_message> message) noexcept {
  to.pending_bytes += message->cost_;
  to.holder->loop().post(*message.release());
}

std::size_t connection_registry::broadcast(std::span<const connection_id> to, const shared_bytes& data) {
  std::array<std::vector<connection_id>, connection_shards> sorted;
  for (const connection_id id : to) sorted[id.home % connection_shards].push_back(id);
  std::size_t reached = 0;
  for (std::size_t n = 0; n < connection_shards; ++n)
    if (!sorted[n].empty()) reached += broadcast_in(shards_[n], sorted[n], data);
  return reached;
}

std::size_t connection_registry::broadcast_in(shard& s, std::span<const connection_id> ids, const shared_bytes& data) {
  // By loop, in order of appearance, so that one seed gives one run.
  std::vector<std::pair<event_loop*, std::unique_ptr<broadcast_message>>> messages;
  std::unordered_map<event_loop*, broadcast_message*> of_loop;
  std::size_t reached = 0;
  const std::lock_guard lock(s.mutex);
  try {
    for (const connection_id id : ids) {
      slot* const at = living(s, id);
      if (!at || at->holder->posts_.has(detail::connection_posts::refuses_sends) || !has_room(*at)) continue;
      event_loop& loop = at->holder->loop();
      broadcast_message*& message = of_loop[&loop];
      if (!message)
        message = messages.emplace_back(&loop, std::make_unique<broadcast_message>(*this, data)).second.get();
      message->to.push_back(id);
      at->pending_bytes += broadcast_message::cost_of(data);
      ++reached;
    }
  } catch (const std::bad_alloc&) {  // the connections collected so far are reached
  }
  for (auto& [loop, message] : messages) loop->post(*message.release());
  return reached;
}

void connection_registry::drain() {
  for (shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    s.draining = true;
  }
  for (const connection_id id : all()) (void)deliver(id, kind::control, [](connection& c) { c.drain(); });
}

bool connection_registry::is_draining() const noexcept {
  const std::lock_guard lock(shards_.front().mutex);
  return shards_.front().draining;
}

// In the order of the loops' first connections: one seed gives one run, wherever the loops lie in memory.
std::uint32_t connection_registry::shard_for(event_loop& loop) noexcept {
  event_loop::registry_shard& known = loop.shard_in_registry();
  if (known.registry != number_)
    known = {number_, next_shard_.fetch_add(1, std::memory_order_relaxed) % connection_shards};
  return known.shard;
}

connection_registry::added connection_registry::add(connection& c) {
  const std::size_t number = shard_for(c.loop());
  shard& s = shards_[number];
  const std::lock_guard lock(s.mutex);
  if (s.first_free == none) {
    s.slots.emplace_back();
    s.slots.back().pending_bytes = none;
    s.first_free = s.slots.size() - 1;
  }
  const std::size_t index = s.first_free;
  s.first_free = s.slots[index].pending_bytes;
  s.slots[index] = {&c, s.next_generation++};
  ++s.size;
  count_.fetch_add(1, std::memory_order_relaxed);
  return {id_of(number, index), s.draining};
}

void connection_registry::remove(connection_id id) noexcept {
  shard& s = shard_of(id);
  const std::lock_guard lock(s.mutex);
  slot* const found = living(s, id);
  if (!found) return;
  *found = {.pending_bytes = s.first_free};
  s.first_free = id.slot;
  --s.size;
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void connection_registry::set_full(connection_id id, bool full) noexcept {
  shard& s = shard_of(id);
  const std::lock_guard lock(s.mutex);
  if (const slot* found = living(s, id)) found->holder->posts_.set(detail::connection_posts::refuses_sends, full);
}

connection* connection_registry::arrived(connection_id id, std::size_t cost, bool needs_baton) noexcept {
  shard& s = shard_of(id);
  const std::lock_guard lock(s.mutex);
  slot* const found = living(s, id);
  if (!found) return nullptr;
  // Nothing that counts is on its way to a connection that migrates.
  connection* const holder = found->holder->loop().in_this_thread() ? found->holder : nullptr;
  if (!holder || (!needs_baton && holder->takes_bytes_now())) found->pending_bytes -= cost;
  return holder;
}

void connection_registry::release(connection_id id, std::size_t cost) noexcept {
  shard& s = shard_of(id);
  const std::lock_guard lock(s.mutex);
  if (slot* const found = living(s, id)) found->pending_bytes -= cost;
}

connection_id connection_registry::id_of(std::size_t in_shard, std::size_t at) const noexcept {
  return {number_ * connection_shards + static_cast<std::uint32_t>(in_shard), static_cast<std::uint32_t>(at),
          shards_[in_shard].slots[at].generation};
}

connection_registry::slot* connection_registry::living(shard& s, connection_id id) const noexcept {
  if (!id || id.home / connection_shards != number_) return nullptr;
  if (id.slot >= s.slots.size() || s.slots[id.slot].generation != id.generation) return nullptr;
  return &s.slots[id.slot];
}

// Under the lock: a connection stays registered while its handle is open.
std::string connection_registry::peer_of(connection_id which) {
  shard& s = shard_of(which);
  const std::lock_guard lock(s.mutex);
  const slot* const found = living(s, which);
  if (!found || found->holder->loop().options().own_descriptors) return {};
  return found->holder->peer();
}

std::size_t connection_registry::size() const {
  std::size_t count = 0;
  for (const shard& s : shards_) {
    const std::lock_guard lock(s.mutex);
    count += s.size;
  }
  return count;
}

std::vector<connection_id> connection_registry::all() const {
  std::vector<connection_id> ids;
  for (std::size_t n = 0; n < connection_shards; ++n) {
    const shard& s = shards_[n];
    const std::lock_guard lock(s.mutex);
    for (std::size_t i = 0; i < s.slots.size(); ++i)
      if (s.slots[i].holder) ids.push_back(id_of(n, i));
  }
  return ids;
}

}  // namespace quintet
