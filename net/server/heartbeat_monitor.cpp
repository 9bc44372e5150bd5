// SPDX-License-Identifier: BSL-1.0
// heartbeat_monitor: scans the connections, pings silent ones and closes them.
#include "heartbeat_monitor.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace quintet {
namespace {

constexpr std::size_t at_once = 256;  // slots scanned under one lock: some microseconds

/// Rounds up. Zero: never.
std::uint32_t in_intervals(duration d, duration interval) noexcept {
  if (interval == duration::zero() || d == duration::zero()) return 0;
  constexpr auto most = std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  return static_cast<std::uint32_t>(std::min(most, std::int64_t{(d - duration(1)) / interval + 1}));
}

/// Returns true after each further `after` intervals, because a ping or a close may fail: without memory, or while a
/// handler runs.
bool is_time(std::uint32_t silent_for, std::uint32_t after) noexcept {
  return after > 0 && silent_for > 0 && silent_for % after == 0;
}

}  // namespace

heartbeat_monitor::heartbeat_monitor(event_loop& loop, connection_registry& watched, const heartbeat_options& options)
    : loop_(loop),
      watched_(watched),
      interval_(options.interval),
      ping_after_(in_intervals(options.ping_after, options.interval)),
      evict_after_(in_intervals(options.evict_after, options.interval)),
      ping_(std::make_shared<const std::string>(options.ping)) {
  found_.reserve(at_once);
  to_ping_.reserve(at_once);
}

void heartbeat_monitor::start() noexcept {
  due_ = later(loop_.time().now(), interval_);
  loop_.start(*this, between(loop_.now(), due_));
}

// Keeps a fixed period, and skips scans for which the loop was too busy. A scan in progress continues; no second one
// begins.
void heartbeat_monitor::expired() noexcept {
  const duration late = between(due_, loop_.time().now());
  measure(late);
  due_ = later(later(due_, late - late % interval_), interval_);
  loop_.start(*this, between(loop_.now(), due_));
  loop_.schedule_fair(*this);
}

void heartbeat_monitor::measure(duration late) noexcept {
  lateness_.add(static_cast<std::uint64_t>(late / std::chrono::nanoseconds(1)));
  if (late > interval_ / 2) late_.add();
}

void heartbeat_monitor::run_quantum() noexcept {
  found_.clear();
  const bool more = watched_.find_silent(position_, at_once, found_);
  try {
    ping_or_evict(found_);
  } catch (const std::bad_alloc&) {  // the next scan tries again
  }
  if (more) return loop_.schedule_fair(*this);
  position_ = {};
  scans_.add();
}

void heartbeat_monitor::ping_or_evict(const std::vector<connection_registry::silent_connection>& found) {
  to_ping_.clear();
  for (const auto& [id, silent_for] : found) {
    if (is_time(silent_for, evict_after_))
      (void)watched_.evict(id, evict_after_);  // the connection may have closed
    else if (is_time(silent_for, ping_after_))
      to_ping_.push_back(id);
  }
  if (!to_ping_.empty()) pings_.add(watched_.broadcast(to_ping_, ping_));
}

heartbeat_statistics heartbeat_monitor::statistics() const noexcept {
  return {.scans = scans_.value(), .pings = pings_.value(), .late = late_.value(), .lateness = lateness_.now()};
}

}  // namespace quintet
