// SPDX-License-Identifier: BSL-1.0
// loop_handshakes: the queues of a loop's handshakes that belong to no listener.
#pragma once

#include "securing_queue.hpp"

#include <map>
#include <memory>
#include <utility>

namespace quintet {

/// A service of a loop (event_loop::use): handshakes with servers, and those in mid-stream. One queue for each
/// source and owner, so that links that come back together take one step a turn, and the loop's connections go on.
class loop_handshakes {
 public:
  explicit loop_handshakes(event_loop& loop) noexcept : loop_(loop) {}
  /// [loop] `counted`: who counts; it must outlive the loop's handshakes. The first call for a source sets the limits.
  /// Throws std::bad_alloc.
  securing_queue& of(const std::shared_ptr<handshake_source>& source, const handshake_limits& limits = {},
                     handshake_counters* counted = nullptr) {
    std::unique_ptr<securing_queue>& queue = queues_[{source.get(), counted}];
    if (!queue) queue = std::make_unique<securing_queue>(loop_, source, limits, counted);
    return *queue;
  }

 private:
  event_loop& loop_;
  // The queues keep the sources.
  std::map<std::pair<const handshake_source*, const handshake_counters*>, std::unique_ptr<securing_queue>> queues_;
};

}  // namespace quintet
