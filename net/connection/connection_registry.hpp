// SPDX-License-Identifier: BSL-1.0
// connection_registry: finds a server's connections by id, and sends them bytes, calls and closes from any thread.
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
#include <unordered_map>
#include <utility>
#include <vector>

namespace quintet {

class connection;
class connection_registry;

/// A random number that names a connection to those who may cancel its requests; never 0.
enum class cancel_key : std::uint64_t {};
class event_loop;

namespace detail {

class connection_core;
class connection_handoff;
class connection_migration;
class connection_output;
class connection_posts;

}  // namespace detail

/// A message to a connection, made by any thread. It is destroyed after it has run, or when it finds no connection.
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
  static constexpr std::size_t overhead = 128;  // bytes charged for the message object itself
  static void arrive(work_item& item) noexcept;
  /// [loop], or [baton] if it needs the baton.
  virtual void run(connection& c) = 0;

  connection_registry& registry_;
  connection_id to_;
  std::size_t cost_;  // bytes charged to its connection's limit until it has run
  bool needs_baton_;
};

/// Each server has one; connection::registry() returns it. Each function finds the connection alive or returns
/// errc::no_such_connection. If the connection closes before the message arrives, the message is dropped, as if the
/// peer had closed a moment earlier.
///
/// The server's `max_output` bounds the messages to one connection that have not run yet. Each counts its bytes, or its
/// function with captures, and 128 bytes more. Above the limit the result is errc::output_full.
///
/// Locks one shard for a look-up and a post. The path from a socket through a handler and back takes no lock.
class connection_registry {
 public:
  /// `max_pending_bytes`: limit in bytes for messages to one connection that have not run yet. Throws std::bad_alloc.
  explicit connection_registry(std::size_t max_pending_bytes);
  connection_registry(const connection_registry&) = delete;
  connection_registry& operator=(const connection_registry&) = delete;

  /// [any thread] Sends bytes, between the outputs of two batches of the connection's handler. Returns
  /// errc::output_full if the connection's policy is overflow_policy::error and its output waits. In a burst, only the
  /// first send wakes the loop.
  error_code send(connection_id to, bytes data) { return send(to, std::make_shared<const std::string>(data)); }
  error_code send(connection_id to, shared_bytes data);
  /// [any thread] Sends the same bytes to each; returns to how many. Posts once for each loop.
  std::size_t broadcast(std::span<const connection_id> to, const shared_bytes& data);
  /// [any thread] Closes as connection::close() after the handler's batch, and after what was sent and posted before:
  /// waits until the peer has read queued output. The first call counts; others change nothing.
  error_code close(connection_id which);
  /// [any thread] Ends the connection at once with errc::aborted: drops its output and resets it. Cancels what a
  /// coroutine awaits; a running handler ends its batch.
  error_code abort(connection_id which);
  /// [any thread] Cancels the request that the connection's handler works on, with cancel_reason::cancelled: what a
  /// coroutine awaits, and what it begins to await before it reads again. The connection lives. Without a request,
  /// nothing happens. Where a callback runs on the connection's loop, the loop hears of it after the callback.
  error_code cancel(connection_id which);
  /// [any thread] The same for a request to cancel that came from outside, with the key that
  /// connection::make_cancel_key() has returned. A wrong key is errc::no_such_connection, and counted.
  error_code cancel(cancel_key key);
  [[nodiscard]] std::uint64_t wrong_keys() const noexcept { return wrong_keys_.load(std::memory_order_relaxed); }
  /// [any thread] Runs f(connection&) as a batch of the handler: with the baton, where the model runs handlers. (A
  /// coroutine's connection: on its loop, while it waits in read().) An exception from f closes the connection with
  /// errc::handler_threw. If the connection closes first, f is destroyed without having run.
  template <std::invocable<connection&> F>
  error_code post(connection_id to, F f);

  /// [any thread] Return the number of connections, and all ids. count() takes no lock and may lag.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::vector<connection_id> all() const;
  // For heartbeat_monitor.
  /// Position at which a scan of all connections continues.
  struct scan_position {
    std::size_t shard = 0;  ///< of connection_shards
    std::size_t slot = 0;   ///< in the shard
  };
  /// A connection that find_silent() has found.
  struct silent_connection {
    connection_id id;     ///< of the connection
    std::uint32_t looks;  ///< since the first that found nothing received: at least so many intervals
  };
  /// [any thread] Scans at most `most` slots under one lock. Adds connections that received nothing since the previous
  /// scan to `found`, up to its capacity. Returns false after the last slot.
  bool find_silent(scan_position& from, std::size_t most, std::vector<silent_connection>& found);
  /// [any thread] Closes it with errc::heartbeat_timeout, unless it has received something before its loop gets there,
  /// or a handler is running.
  error_code evict(connection_id which, std::uint32_t silent_for);

  // For rebalancer.
  /// A connection that find_movable() has found.
  struct movable_connection {
    connection_id id;  ///< of the connection
    event_loop* on;    ///< its loop
    bool is_silent;    ///< since mark()
  };
  /// [any thread] Scan at most `most` slots under one lock: mark connections as silent until they receive something;
  /// add those that may migrate to `found`. Return false after the last slot.
  bool mark(scan_position& from, std::size_t most);
  bool find_movable(scan_position& from, std::size_t most, std::vector<movable_connection>& found);
  /// [any thread] Waits for migrations in progress and prevents new ones.
  void end_moves() noexcept;

  /// [any thread] Returns the peer's address; empty if the connection has closed, or if its loop has descriptors of its
  /// own (loop_options::own_descriptors).
  [[nodiscard]] std::string peer_of(connection_id which);
  /// [any thread] Tells all connections to drain (connection::draining), and each that is added later.
  void drain();
  /// [any thread] Returns whether drain() was called: for connections that had ended before.
  [[nodiscard]] bool is_draining() const noexcept;

 private:
  friend class connection_message;
  friend class connection;
  friend detail::connection_core;
  friend detail::connection_migration;
  friend detail::connection_output;
  friend detail::connection_handoff;
  // One for each connection, so it is small. Slots do not move, so growth never needs twice the room.
  struct slot {
    connection* holder = nullptr;
    std::uint64_t generation = 0;
    // Bytes sent to the holder and not run yet. Without a holder: the next free slot.
    std::size_t pending_bytes = 0;
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
  class connection_task;
  /// `once`: the connection's note that such a task is posted already; 0: each is posted.
  template <class F>
  error_code run_task(connection_id to, F f, std::uint8_t once = 0);
  template <class F>
  error_code post_task(std::unique_ptr<connection_task<F>> message, std::uint8_t once = 0) noexcept;
  template <class F>
  class call_message;

  /// [loop] A connection opens or ends. `draining`: it must drain at once.
  struct added {
    connection_id id;
    bool draining;
  };
  added add(connection& c);
  [[nodiscard]] std::uint32_t shard_for(event_loop& loop) noexcept;
  void remove(connection_id id) noexcept;
  /// [baton] Makes a key for cancel(). Throws std::bad_alloc, and std::exception without random numbers.
  cancel_key make_key(connection_id for_whom);
  void forget_key(cancel_key key) noexcept;
  /// [loop] Gives the holder's id to the connection that f() returns, unless that is null. Nobody can send to the id
  /// meanwhile. Returns false if messages are on their way, or after end_moves().
  template <std::invocable F>
  bool transfer_id(connection_id id, F f) noexcept {
    shard& s = shard_of(id);
    const std::lock_guard lock(s.mutex);
    slot* const found = living(s, id);
    if (!found || found->pending_bytes != 0 || s.ends_moves) return false;
    if (connection* const next = f()) found->holder = next;
    return true;
  }
  void set_full(connection_id id, bool full) noexcept;
  /// [loop] Sends bytes from outside, behind the message that the handler is writing.
  static void send_to(connection& c, const shared_bytes& data) noexcept;
  /// [loop] Counts one more (1) or one fewer (-1) full connection that `source` feeds.
  void throttle(connection_id source, int change);
  /// [loop] Returns the sum of the changes that the arrived message stands for.
  int take_throttle_change(connection& c) noexcept;
  /// [loop] A message has arrived: returns its connection, if that lives on this thread's loop. Releases the message's
  /// cost if it can run at once; otherwise the cost counts until release().
  connection* arrived(connection_id id, std::size_t cost, bool needs_baton = false) noexcept;
  /// [any thread] Releases the cost of messages that have run.
  void release(connection_id id, std::size_t cost) noexcept;
  [[nodiscard]] bool has_room(const slot& s) const noexcept { return s.pending_bytes <= max_pending_bytes_; }
  enum class kind { data, call, control, close };  // the last two are never refused
  /// Runs f(connection&) on the connection's loop; a call holds the baton. `size`: the bytes that f carries.
  template <class F>
  error_code deliver(connection_id to, kind what, F f, std::size_t size = 0);
  error_code deliver_message(connection_id to, kind what, std::unique_ptr<connection_message> message);
  static void post_under_lock(slot& to, std::unique_ptr<connection_message> message) noexcept;
  std::size_t broadcast_in(shard& s, std::span<const connection_id> ids, const shared_bytes& data);
  /// Calls f(id, connection&) for each connection in these slots.
  template <class F>
  bool visit(scan_position& from, std::size_t most, F f);
  slot* living(shard& s, connection_id id) const noexcept;
  shard& shard_of(connection_id id) noexcept { return shards_[id.home % connection_shards]; }

  [[nodiscard]] connection_id id_of(std::size_t in_shard, std::size_t at) const noexcept;

  const std::size_t max_pending_bytes_;
  const std::uint32_t number_;  // unique in this process
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint32_t> next_shard_{0};
  std::array<shard, connection_shards> shards_;
  std::mutex keys_mutex_;
  std::unordered_map<cancel_key, connection_id> keys_;  // few connections have one
  std::atomic<std::uint64_t> wrong_keys_{0};
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
