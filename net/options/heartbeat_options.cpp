// SPDX-License-Identifier: BSL-1.0
// heartbeat_options: validation.
#include "advanced_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const heartbeat_options& o) {
  using detail::require;
  constexpr duration none = duration::zero();
  require(o.interval >= none, "heartbeat.interval", "it must not be below zero");
  require(o.lateness_bound > none, "heartbeat.lateness_bound", "it must be above zero");
  require(o.ping_after == none || (o.is_on() && o.ping_after >= o.interval), "heartbeat.ping_after",
          "it must be zero, or at least one interval");
  require(o.evict_after == none || (o.is_on() && o.evict_after >= o.interval), "heartbeat.evict_after",
          "it must be zero, or at least one interval");
  require(o.ping.empty() == (o.ping_after == none), "heartbeat.ping", "it needs a ping_after, and ping_after a ping");
  require(o.ping.empty() || o.evict_after == none || o.ping_after < o.evict_after, "heartbeat.ping_after",
          "it must be below evict_after");
}

}  // namespace quintet
