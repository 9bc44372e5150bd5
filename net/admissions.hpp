// SPDX-License-Identifier: BSL-1.0
// admissions: counts a server's ordinary connections, in total and for each network they come from.
#pragma once

#include <quintet/base/work_item.hpp>
#include <quintet/net/accept_limits.hpp>
#include <quintet/net/event_loop.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace quintet {

/// A connection enters on the main loop's thread and leaves on its own loop's. The total is one atomic; the table of
/// networks, with its lock, is used only when max_connections_per_address is set. Must outlive all loops.
class admissions final : private work_item {
 public:
  class ticket;

  explicit admissions(const accept_limits& limits) noexcept
      : work_item(&admissions::room_again),
        max_(limits.max_connections),
        max_of_network_(limits.max_connections_per_address) {}

  /// [before run] Who is to be told, on the loop's thread, when there is room again after full() has said that there is
  /// none. Nobody: nullptr and nothing.
  void attach(event_loop* loop, std::function<void()> on_room);

  /// [loop] The main loop's. An empty ticket: too many from there already.
  ticket enter(const address& from);
  /// [loop] The main loop's. Whether max_connections are open; if so, on_room is called some time later.
  [[nodiscard]] bool full() noexcept;
  /// [any thread] Connections that are open, or on their way to their loop.
  [[nodiscard]] std::size_t open() const noexcept { return open_.load(std::memory_order_relaxed); }

  /// [any thread] From now on the place belongs to what has this identity, until it leaves.
  void settle(ticket place, const void* identity);
  /// [any thread] The place of what has settled; it is given back with the ticket.
  ticket leave(const void* identity) noexcept;

 private:
  using network = std::optional<address::network_type>;
  bool enter_network(const network& from);
  void leave_network(const network& from) noexcept;
  void give_back() noexcept;
  static void room_again(work_item& item) noexcept;

  const std::size_t max_, max_of_network_;  // 0: no limit
  std::atomic<std::size_t> open_{0};
  std::atomic<bool> awaited_{false};  // the main loop has stopped accepting; who takes this back has to tell it
  event_loop* loop_ = nullptr;
  std::function<void()> on_room_;

  std::mutex mutex_;
  std::map<address::network_type, std::size_t> of_network_;
  std::unordered_map<const void*, address::network_type> settled_;
};

/// A place among the open connections; given back when it is destroyed before it was settled.
class admissions::ticket {
 public:
  ticket() noexcept = default;
  ticket(ticket&& other) noexcept : of_(std::exchange(other.of_, nullptr)), from_(other.from_) {}
  ticket& operator=(ticket&&) = delete;
  ~ticket();
  explicit operator bool() const noexcept { return of_ != nullptr; }

 private:
  friend class admissions;
  ticket(admissions& of, const network& from) noexcept : of_(&of), from_(from) {}
  admissions* of_ = nullptr;
  network from_;
};

}  // namespace quintet
