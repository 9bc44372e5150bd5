// SPDX-License-Identifier: BSL-1.0
// heartbeat_options: when a silent connection is pinged, and when it is closed.
#pragma once

#include "../../base/clock.hpp"

#include <chrono>
#include <string>

namespace quintet {

/// How long a connection has been silent is known within one interval; what is to happen then happens later, and never
/// earlier, than it says here.
struct heartbeat_options {
  /// How often the priority loop's thread looks at all connections, ordinary ones and those of the priority loop. Zero:
  /// never.
  duration interval = duration::zero();
  duration ping_after = duration::zero();   ///< of silence, and again each time it has passed; zero: never
  std::string ping = {};                    ///< what is sent then, between what the handler writes in two batches
  duration evict_after = duration::zero();  ///< of silence: errc::heartbeat_timeout; zero: never
  /// A look that comes later than this counts as a breach: so late may a heartbeat have been answered.
  duration lateness_bound = std::chrono::milliseconds(5);

  [[nodiscard]] bool is_on() const noexcept { return interval > duration::zero(); }
};

/// Throws config_error.
void validate(const heartbeat_options& options);

}  // namespace quintet
