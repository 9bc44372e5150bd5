// SPDX-License-Identifier: BSL-1.0
// client_handshakes: the queues of a loop's handshakes with servers.
#pragma once

#include "securing_queue.hpp"

#include <memory>
#include <unordered_map>

namespace quintet {

/// A service of a loop (event_loop::use). One queue for each source, so that links that come back together take one
/// step a turn, and the loop's connections go on.
class client_handshakes {
 public:
  explicit client_handshakes(event_loop& loop) noexcept : loop_(loop) {}
  /// [loop] Throws std::bad_alloc.
  securing_queue& of(const std::shared_ptr<handshake_source>& source) {
    std::unique_ptr<securing_queue>& queue = queues_[source.get()];
    if (!queue) queue = std::make_unique<securing_queue>(loop_, source, handshake_limits{});
    return *queue;
  }

 private:
  event_loop& loop_;
  std::unordered_map<const handshake_source*, std::unique_ptr<securing_queue>> queues_;  // which keep the sources
};

}  // namespace quintet
