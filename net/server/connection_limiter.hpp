// SPDX-License-Identifier: BSL-1.0
// connection_limiter: counts a server's ordinary connections, in total, for each network they come from, and as they
// come.
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

/// A place among the open connections. Its destructor gives the place back, unless commit() took it.
class connection_permit {
 public:
  connection_permit() noexcept = default;
  connection_permit(connection_permit&& other) noexcept
      : limiter_(std::exchange(other.limiter_, nullptr)), from_(other.from_) {}
  connection_permit& operator=(connection_permit&&) = delete;
  ~connection_permit();
  /// False: the address has too many connections already.
  explicit operator bool() const noexcept { return limiter_ != nullptr; }

 private:
  friend class connection_limiter;
  using network = std::optional<address::network_type>;
  connection_permit(connection_limiter& limiter, const network& from) noexcept : limiter_(&limiter), from_(from) {}
  connection_limiter* limiter_ = nullptr;
  network from_;
};

/// A connection enters on the thread that accepts it, of which there may be several, and leaves on its own loop's. The
/// total is one atomic; the table of networks and the rate, with their locks, are used only when
/// max_connections_per_address or accept_rate is set. Must outlive all loops.
class connection_limiter {
 public:
  explicit connection_limiter(const accept_limits& limits) noexcept
      : max_(limits.max_connections),
        max_of_network_(limits.max_connections_per_address),
        has_rate_(limits.accept_rate > 0),
        rate_(limits.accept_rate, limits.accept_burst) {}

  /// [before run] Who accepts on this loop, and is to be told there when there is room again after full() has said, to
  /// it or to another, that there is none.
  void attach(event_loop& loop, std::function<void()> on_room);
  /// When the loop runs no more, or not yet: nobody is told there from now on.
  void detach(event_loop& loop) noexcept;

  /// [any thread] Nothing: max_connections are open. An empty permit: too many from there already.
  std::optional<connection_permit> try_acquire(const address& from);
  /// [any thread] Whether max_connections are open; if so, all waiters are told some time later.
  [[nodiscard]] bool is_full() noexcept;
  /// [any thread] How long it is until accept_rate lets another one in. Zero: at once, and take_turn() has counted it.
  duration take_turn(time_point now) noexcept;
  [[nodiscard]] duration turn_comes_in(time_point now) noexcept;
  /// [any thread] Connections that are open, or on their way to their loop.
  [[nodiscard]] std::size_t open() const noexcept { return open_.load(std::memory_order_relaxed); }

  /// [any thread] From now on the place belongs to what has this identity, until it leaves.
  void commit(connection_permit place, const void* identity);
  /// [any thread] `to` takes the place of `from`, which has none of its own from now on, but leaves all the same:
  /// until then the two count as two.
  void transfer(const void* from, const void* to) noexcept;
  /// [any thread] The place that was committed; it is given back with the permit.
  connection_permit release(const void* identity) noexcept;

 private:
  friend class connection_permit;
  using network = connection_permit::network;
  bool acquire_of_network(const network& from);
  void release_of_network(const network& from) noexcept;
  void give_back() noexcept;
  void tell_waiters() noexcept;
  /// Belongs to this, and not to who accepts, because the news may still be in a loop's inbox when that one has gone.
  struct waiter final : work_item {
    waiter(event_loop& l, std::function<void()> f);
    static void told(work_item& item) noexcept;
    event_loop& loop;
    std::function<void()> on_room;
    std::atomic<bool> on_its_way{false};  // the news
  };

  const std::size_t max_, max_of_network_;  // 0: no limit
  std::atomic<std::size_t> open_{0};
  std::atomic<bool> awaited_{false};  // somebody has stopped accepting; who takes this back has to tell the waiters
  std::vector<std::unique_ptr<waiter>> waiters_;
  const bool has_rate_;
  std::mutex rate_mutex_;
  rate_limit rate_;

  std::mutex mutex_;
  std::map<address::network_type, std::size_t> of_network_;
  std::unordered_map<const void*, address::network_type> committed_;
};

}  // namespace quintet
