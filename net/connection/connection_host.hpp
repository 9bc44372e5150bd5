// SPDX-License-Identifier: BSL-1.0
// connection_host: state shared by the connections of one server.
#pragma once

#include "../../base/log.hpp"
#include "../options/limits.hpp"
#include "../secure/handshake_figures.hpp"
#include "connection_registry.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace quintet {

class model_interface;
class stall_watchdog;

/// Bytes of waiting output, or of unused input, over all connections of a server. Touched only when a peer does not
/// read, or sends long messages.
class byte_budget {
 public:
  explicit byte_budget(std::size_t limit) noexcept : limit_(limit) {}
  /// [any thread] Records that a connection's `before` bytes became `after`. Returns false if that is too much. When
  /// the limit is used up, each connection keeps a share of a reserve: a quarter of the limit, divided by
  /// `connections`. So heavy connections do not end light ones.
  bool changed(std::size_t before, std::size_t after, std::size_t connections) noexcept {
    if (after <= before) {
      used_.fetch_sub(before - after, std::memory_order_relaxed);
      return true;
    }
    const std::size_t more = after - before, used = used_.fetch_add(more, std::memory_order_relaxed) + more;
    return used <= limit_ || after <= limit_ / 4 / std::max<std::size_t>(connections, 1);
  }
  void released(std::size_t count) noexcept { used_.fetch_sub(count, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

/// Outlives the server's connections and loops.
struct connection_host {
  connection_host(const connection_limits& l, const memory_limits& memory, log_hook hook = {})
      : limits(l),
        log(std::move(hook)),
        output(memory.max_output_total),
        input(memory.max_input_total),
        registry(l.max_output) {}
  const connection_limits limits;
  const log_hook log;
  byte_budget output, input;
  connection_registry registry;
  handshake_counters handshakes = {};  ///< of start_tls()
  // Set before the first connection:
  event_loop* priority_loop = nullptr;  ///< null: no priority class
  std::vector<event_loop*> loops = {};  ///< among which connections may move
  stall_watchdog* watchdog = nullptr;   ///< null: no watchdog
  model_interface* model = nullptr;     ///< has threads for handshakes; null: loops compute them
};

}  // namespace quintet
