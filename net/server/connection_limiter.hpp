// SPDX-License-Identifier: BSL-1.0
// connection_limiter: bounds a server's connections in total, for each peer network, and per second.
#pragma once

#include "../../base/rate_limit.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"
#include "../options/limits.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quintet {

class connection_limiter;

/// A place among the open connections. The destructor releases the place, unless commit() took it.
class connection_permit {
 public:
  connection_permit() noexcept = default;
  connection_permit(connection_permit&& other) noexcept
      : limiter_(std::exchange(other.limiter_, nullptr)), from_(other.from_) {}
  connection_permit& operator=(connection_permit&&) = delete;
  ~connection_permit();
  /// Returns false if there is no place: the peer's network has reached its limit.
  explicit operator bool() const noexcept { return limiter_ != nullptr; }

 private:
  friend class connection_limiter;
  using network = std::optional<address::network_type>;
  connection_permit(connection_limiter& limiter, const network& from) noexcept : limiter_(&limiter), from_(from) {}
  connection_limiter* limiter_ = nullptr;
  network from_;
};

/// Several threads may acquire permits; each connection is released on its own loop. The total is one atomic. The table
/// of networks and the rate have locks, and are used only if max_connections_per_address or accept_rate is set. Must
/// outlive all loops.
class connection_limiter {
 public:
  explicit connection_limiter(const accept_limits& limits) noexcept
      : max_(limits.max_connections),
        max_of_network_(limits.max_connections_per_address),
        has_rate_(limits.accept_rate > 0),
        rate_(limits.accept_rate, limits.accept_burst) {}

  /// [before run] Registers `on_room`. It runs on `loop` when there is room again after is_full() has returned true to
  /// any caller.
  void attach(event_loop& loop, std::function<void()> on_room);
  /// Removes the `on_room` of this loop, which must not be running.
  void detach(event_loop& loop) noexcept;

  /// [any thread] Returns nullopt at max_connections, and an empty permit at max_connections_per_address. Throws
  /// std::bad_alloc.
  std::optional<connection_permit> try_acquire(const address& from);
  /// [any thread] The same under accept_rate: returns nullopt also while there is no token, and takes one with the
  /// place. So a connection that must wait uses up neither.
  std::optional<connection_permit> try_acquire(const address& from, time_point now);
  /// [any thread] Adds the peer's network to a permit that has none. Returns an empty permit at
  /// max_connections_per_address. Throws std::bad_alloc.
  connection_permit add_network(connection_permit place, const address& from);
  /// [any thread] Returns whether max_connections are open. If so, each registered `on_room` runs when there is room.
  [[nodiscard]] bool is_full() noexcept;
  /// [any thread] Return the time until accept_rate allows another connection. If that is zero, acquire_rate_token()
  /// has counted the connection; time_until_rate_token() only reads.
  duration acquire_rate_token(time_point now) noexcept;
  [[nodiscard]] duration time_until_rate_token(time_point now) noexcept;
  /// [any thread] Returns the number of connections that are open or in transit to their loop.
  [[nodiscard]] std::size_t open() const noexcept { return open_.load(std::memory_order_relaxed); }

  /// [any thread] Passes the permit's place to `identity`, until release(identity). Throws std::bad_alloc; cannot throw
  /// if the permit has no network.
  void commit(connection_permit place, const void* identity);
  /// [any thread] Passes the place of `from` to `to`. Both must be released; until then they count as two connections.
  /// `to` counts for the peer's network.
  void transfer(const void* from, const void* to) noexcept;
  /// [any thread] Returns the committed place as a permit, whose destructor releases it.
  connection_permit release(const void* identity) noexcept;
  /// [any thread] Return the bounds of the log's lines about refused connections, and about those that cannot open.
  [[nodiscard]] log_limit& refused_lines() noexcept { return refused_lines_; }
  [[nodiscard]] log_limit& unopened_lines() noexcept { return unopened_lines_; }

 private:
  friend class connection_permit;
  using network = connection_permit::network;
  connection_permit acquire_place() noexcept;
  bool acquire_of_network(const network& from);
  void release_of_network(const network& from) noexcept;
  void give_back() noexcept;
  void notify_waiters() noexcept;
  /// Owned by the limiter, because the item may still be in a loop's inbox when the acceptor has been destroyed.
  struct waiter final : work_item {
    waiter(event_loop& l, std::function<void()> f);
    static void run_on_room(work_item& item) noexcept;
    event_loop& loop;
    std::function<void()> on_room;
    std::atomic<bool> is_posted{false};  // posted to the loop and not run yet
  };

  const std::size_t max_, max_of_network_;  // 0: no limit
  std::atomic<std::size_t> open_{0};
  std::atomic<bool> has_waiters_{false};  // an acceptor has stopped; the thread that clears this notifies the waiters
  std::vector<std::unique_ptr<waiter>> waiters_;
  const bool has_rate_;
  std::mutex rate_mutex_;
  rate_limit rate_;
  log_limit refused_lines_, unopened_lines_;

  std::mutex mutex_;
  std::map<address::network_type, std::size_t> of_network_;
  std::unordered_map<const void*, address::network_type> committed_;
};

}  // namespace quintet
