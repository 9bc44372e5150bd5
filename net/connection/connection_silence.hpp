// SPDX-License-Identifier: BSL-1.0
// connection_silence: how long a connection has received nothing, for the heartbeat monitor and the rebalancer.
#pragma once

#include <atomic>
#include <cstdint>

namespace quintet::detail {

/// Counts the heartbeat monitor's looks since the last received byte. Also remembers whether anything was received
/// since the rebalancer's mark. Receiving costs one store.
class connection_silence {
 public:
  /// [loop] Records that something was received.
  void end() noexcept { std::atomic_ref(state_).store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t looks() noexcept { return load() & ~(marked | unbroken); }
  /// [loop] Returns whether nothing has been received yet.
  [[nodiscard]] bool is_unbroken() noexcept { return (load() & unbroken) != 0; }
  /// [any thread] Counts one look; returns the count before it. A look that races with end() is lost, unless the
  /// silence had just begun.
  std::uint32_t look() noexcept {
    std::uint32_t before = load();
    std::atomic_ref(state_).compare_exchange_strong(before, before + 1, std::memory_order_relaxed);
    return before & ~(marked | unbroken);
  }
  /// [any thread] Sets the rebalancer's mark, which end() clears.
  void mark() noexcept { std::atomic_ref(state_).fetch_or(marked, std::memory_order_relaxed); }
  [[nodiscard]] bool is_marked() noexcept { return (load() & marked) != 0; }

 private:
  static constexpr std::uint32_t marked = 1U << 31U, unbroken = 1U << 30U;
  [[nodiscard]] std::uint32_t load() noexcept { return std::atomic_ref(state_).load(std::memory_order_relaxed); }
  std::uint32_t state_ = unbroken;
};

}  // namespace quintet::detail
