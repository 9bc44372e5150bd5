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
  /// [loop] As the constructor of securing_queue. The first call for a source sets the limits, until another source
  /// comes while this one has no handshake.
  /// Throws std::bad_alloc.
  securing_queue& of(const std::shared_ptr<handshake_source>& source, const handshake_limits& limits = {},
                     model_interface* model = nullptr, handshake_counters* counted = nullptr) {
    const key wanted{source.get(), counted};
    if (const auto found = queues_.find(wanted); found != queues_.end()) return *found->second;
    std::erase_if(queues_, [](const auto& other) { return other.second->is_idle(); });
    return *queues_.emplace(wanted, std::make_unique<securing_queue>(loop_, source, limits, model, counted))
                .first->second;
  }

 private:
  event_loop& loop_;
  using key = std::pair<const handshake_source*, const handshake_counters*>;
  std::map<key, std::unique_ptr<securing_queue>> queues_;  // keep the sources
};

}  // namespace quintet
