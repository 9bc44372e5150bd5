// SPDX-License-Identifier: BSL-1.0
// connection_registry: a server's connections by id: bytes, calls and the end, sent to them from any thread.
#pragma once

#include "../../base/error.hpp"
#include "../../base/memory/byte_chain.hpp"
#include "../../base/work/work_item.hpp"
#include "../names/connection_id.hpp"

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quintet {

class connection;
class connection_registry;
class event_loop;

namespace detail {

class connection_core;
struct connection_migration;
class connection_output;
struct connection_handoff;

}  // namespace detail

/// Something on its way to a connection. Made by any thread; it is destroyed when it has arrived, or finds nobody.
class connection_message : public work_item {
 public:
  virtual ~connection_message() = default;

 protected:
  connection_message(connection_registry& registry, connection_id to, bool needs_baton, std::size_t size) noexcept
      : work_item(&connection_message::arrive),
        registry_(registry),
        to_(to),
        cost_(size + overhead),
        needs_baton_(needs_baton) {}

 private:
  friend class connection_registry;
  friend detail::connection_core;
  friend detail::connection_handoff;
  static constexpr std::size_t overhead = 128;  // of what the memory of one that is under way is reckoned at
  static void arrive(work_item& item) noexcept;
  /// On the loop; or, for one that needs it, with the baton.
  virtual void run(connection& c) = 0;

  connection_registry& registry_;
  connection_id to_;
  std::size_t cost_;  // counts against the limit of its connection until it has run
  bool needs_baton_;
};

/// A server has one, and so has each of its connections (connection::registry()). Each function finds the connection
/// alive or returns errc::no_such_connection; if it closes after that, before what was sent has arrived, it is as if
/// the peer had gone a moment earlier: what was sent is dropped. What is on its way to one connection, and what waits
/// there for its handler, is bounded by its server's `max_output`: bytes, functions with what they capture, and 128
/// bytes for each. More is refused with errc::output_full.
///
/// A lock for each shard is held for the time of a look-up and a post; the way from a socket through a handler and back
/// takes none.
class connection_registry {
 public:
  /// `max_under_way`: bytes that may be on their way from other threads to the loop of one connection. Throws
  /// std::bad_alloc where there is no memory for the shards.
  explicit connection_registry(std::size_t max_under_way);
  connection_registry(const connection_registry&) = delete;
  connection_registry& operator=(const connection_registry&) = delete;

  /// [any thread] Sends bytes, between what the connection's handler writes in two batches. errc::output_full when the
  /// policy of that connection is overflow_policy::error and its output waits. Of a burst of sends, the first wakes the
  /// loop.
  error_code send(connection_id to, bytes data) { return send(to, std::make_shared<const std::string>(data)); }
  error_code send(connection_id to, shared_bytes data);
  /// [any thread] The same bytes to each of them; returns to how many they are on their way. One post for each loop.
  std::size_t broadcast(std::span<const connection_id> to, const shared_bytes& data);
  /// [any thread] As if the handler had called connection::close() after its batch: what was written leaves first, for
  /// which the peer has to read it.
  error_code close(connection_id which);
  /// [any thread] Ends it at once with errc::aborted: what waits to be sent is dropped, and the peer sees a reset. What
  /// a coroutine awaits is cancelled; a handler that is at work ends its batch.
  error_code abort(connection_id which);
  /// [any thread] Runs f(connection&) as a batch of the connection's handler would run: holding its baton, where the
  /// model runs handlers (a coroutine's connection: on its loop, while it waits in read()). What f throws closes the
  /// connection with errc::handler_threw. When the connection closes before, f is destroyed without having run.
  template <std::invocable<connection&> F>
  error_code post(connection_id to, F f);

  /// [any thread] How many there are, and the ids of all of them. count() takes no lock, and may be a moment old.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::vector<connection_id> all() const;
  // For heartbeat_monitor.
  /// Where a look at all connections goes on.
  struct look_position {
    std::size_t shard = 0, slot = 0;
  };
  struct silent_connection {
    connection_id id;
    std::uint32_t looks;  // since the first one that found nothing received: for so many intervals at least
  };
  /// [any thread] Looks at no more than `most` places, under one lock, and adds those to `found` that have received
  /// nothing since the look before, if there is room in it without allocating. False: these were the last.
  bool look(look_position& from, std::size_t most, std::vector<silent_connection>& found);
  /// [any thread] Closes it with errc::heartbeat_timeout, unless something has been received by the time that its loop
  /// comes to this, or a handler is at work.
  error_code evict(connection_id which, std::uint32_t silent_for);

  // For rebalancer.
  struct movable_connection {
    connection_id id;
    event_loop* on;
    bool is_silent;  // since it was marked
  };
  /// [any thread] Looks at no more than `most` places, under one lock: marks the connections there as silent until they
  /// receive something; adds those that may move to another loop to `found`. False: these were the last.
  bool mark(look_position& from, std::size_t most);
  bool find_movable(look_position& from, std::size_t most, std::vector<movable_connection>& found);
  /// [any thread] Waits until no connection is just moving; none does from now on.
  void end_moves() noexcept;

  /// [any thread] Whom it is connected with; empty when it is gone, or where descriptors are its loop's own
  /// (loop_options::own_descriptors).
  [[nodiscard]] std::string peer_of(connection_id which);
  /// [any thread] Tells all of them to drain (connection::drain), and each that is added later.
  void drain();

 private:
  friend class connection_message;
  friend detail::connection_core;
  friend detail::connection_migration;
  friend detail::connection_output;
  friend detail::connection_handoff;
  // Each connection has one, so it is small; and they do not move, so that there is never room for twice as many.
  struct slot {
    connection* holder = nullptr;
    std::uint64_t generation = 0;
    // Sent to the holder, and not run yet. Without a holder: the next slot that is free.
    std::size_t under_way = 0;
  };
  struct shard {
    mutable std::mutex mutex;
    std::deque<slot> slots;
    std::size_t first_free = none;
    std::size_t size = 0;  // slots with a holder
    std::uint64_t next_generation = 1;
    bool draining = false;
    bool ends_moves = false;
  };
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  class broadcast_message;
  template <class F>
  class errand;
  template <class F>
  error_code run_errand(connection_id to, F f);
  template <class F>
  error_code post_errand(std::unique_ptr<errand<F>> message) noexcept;
  template <class F>
  class call_message;

  /// [loop] Of a connection that opens and ends. add() says whether it has to drain at once.
  struct added {
    connection_id id;
    bool draining;
  };
  added add(connection& c);
  [[nodiscard]] std::uint32_t shard_for(event_loop& loop) noexcept;
  void remove(connection_id id) noexcept;
  /// [loop] The holder's. If nothing is on its way to it, gives the id to the connection that f() returns, unless that
  /// is none; nobody can send to the id meanwhile. False: not now, or after end_moves().
  template <std::invocable F>
  bool transfer_id(connection_id id, F f) noexcept {
    shard& s = shard_of(id);
    const std::lock_guard lock(s.mutex);
    slot* const found = living(s, id);
    if (!found || found->under_way != 0 || s.ends_moves) return false;
    if (connection* const next = f()) found->holder = next;
    return true;
  }
  void set_full(connection_id id, bool full) noexcept;
  /// [loop] One more (or less) that `source` feeds can take no more.
  void throttle(connection_id source, int change);
  /// [loop] Something has arrived: for whom, if it is still there; it is of the loop whose thread asks. What runs at
  /// once has arrived for good; what has to wait for the baton, or for the end of a message, goes on to count until
  /// release().
  connection* arrived(connection_id id, std::size_t cost, bool needs_baton = false) noexcept;
  /// [any thread] What has waited has run.
  void release(connection_id id, std::size_t cost) noexcept;
  [[nodiscard]] bool has_room(const slot& s) const noexcept { return s.under_way <= max_under_way_; }
  enum class kind { data, call, control };  // control is never refused
  /// f(connection&) on the connection's loop, for a call with its baton. `size`: of the bytes that it carries.
  template <class F>
  error_code deliver(connection_id to, kind what, F f, std::size_t size = 0);
  error_code deliver_message(connection_id to, kind what, std::unique_ptr<connection_message> message);
  std::size_t broadcast_in(shard& s, std::span<const connection_id> ids, const shared_bytes& data);
  /// f(id, connection&) for each connection in those places.
  template <class F>
  bool visit(look_position& from, std::size_t most, F f);
  slot* living(shard& s, connection_id id) const noexcept;
  shard& shard_of(connection_id id) noexcept { return shards_[id.home % connection_shards]; }

  [[nodiscard]] connection_id id_of(std::size_t in_shard, std::size_t at) const noexcept;

  const std::size_t max_under_way_;
  const std::uint32_t number_;  // no other registry of this process has it
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint32_t> next_shard_{0};
  std::array<shard, connection_shards> shards_;
};

template <class F>
class connection_registry::call_message final : public connection_message {
 public:
  call_message(connection_registry& r, connection_id to, bool needs_baton, F f, std::size_t size)
      : connection_message(r, to, needs_baton, size + sizeof(F)), function_(std::move(f)) {}

 private:
  void run(connection& c) override { function_(c); }
  F function_;
};

template <class F>
error_code connection_registry::deliver(connection_id to, kind what, F f, std::size_t size) {
  return deliver_message(to, what,
                         std::make_unique<call_message<F>>(*this, to, what == kind::call, std::move(f), size));
}

template <std::invocable<connection&> F>
error_code connection_registry::post(connection_id to, F f) {
  return deliver(to, kind::call, std::move(f));
}

}  // namespace quintet
