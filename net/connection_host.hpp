// SPDX-License-Identifier: BSL-1.0
// connection_host: what the connections of one server have in common.
#pragma once

#include <quintet/base/log.hpp>
#include <quintet/net/connection_limits.hpp>
#include <quintet/net/connection_registry.hpp>
#include <quintet/net/offload.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace quintet {

class stall_watchdog;

/// Output that waits in all connections of a server together. Touched only when a peer does not read.
class output_budget {
 public:
  explicit output_budget(std::size_t limit) noexcept : limit_(limit) {}
  /// [any thread] Takes note that `before` bytes of a connection have become `after`; false when that is too much.
  bool changed(std::size_t before, std::size_t after) noexcept {
    const std::size_t change = after - before;  // modulo 2^n: a decrease is a large number, and adds up all the same
    return used_.fetch_add(change, std::memory_order_relaxed) + change <= limit_ || after <= before;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

/// Outlives the server's connections and loops.
struct connection_host {
  connection_host(const connection_limits& l, std::size_t max_output_total, log_hook hook = {},
                  const offload_options& o = {})
      : limits(l), offload(o), log(std::move(hook)), output(max_output_total), registry(l.max_output) {}
  const connection_limits limits;
  const offload_options offload;
  const log_hook log;
  output_budget output;
  connection_registry registry;
  // Set before the first connection:
  event_loop* lane = nullptr;           ///< of the priority class, where there is one
  std::vector<event_loop*> loops = {};  ///< among which connections may move
  stall_watchdog* watchdog = nullptr;   ///< nothing: nobody watches
};

}  // namespace quintet
