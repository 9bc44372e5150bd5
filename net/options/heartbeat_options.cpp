// SPDX-License-Identifier: BSL-1.0
// heartbeat_options: validation.
#include "heartbeat_options.hpp"

#include "require.hpp"

namespace quintet {

void validate(const heartbeat_options& o) {
  using detail::require;
  constexpr duration none = duration::zero();
  require(o.interval >= none, "heartbeat.interval", "is negative; it must be at least 0 (0 means off)");
  require(o.lateness_bound > none, "heartbeat.lateness_bound", "is not positive; it must be above 0");
  require(o.ping_after == none || (o.is_on() && o.ping_after >= o.interval), "heartbeat.ping_after",
          "is invalid; it must be 0, or at least heartbeat.interval, which must then be above 0");
  require(o.evict_after == none || (o.is_on() && o.evict_after >= o.interval), "heartbeat.evict_after",
          "is invalid; it must be 0, or at least heartbeat.interval, which must then be above 0");
  require(o.ping.empty() == (o.ping_after == none), "heartbeat.ping",
          "and heartbeat.ping_after do not match; both must be set, or neither");
  require(o.ping.empty() || o.evict_after == none || o.ping_after < o.evict_after, "heartbeat.ping_after",
          "is too large; it must be below heartbeat.evict_after");
}

}  // namespace quintet
