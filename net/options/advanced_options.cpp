// SPDX-License-Identifier: BSL-1.0
// advanced_options: validation, and a stall as one line.
#include "advanced_options.hpp"

#include "../../base/error.hpp"
#include "../../base/work/spin_budget.hpp"
#include "require.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

namespace quintet {
namespace {

using detail::duration_text, detail::require, detail::require_value;

constexpr std::chrono::milliseconds default_bound{QUINTET_STALL_BOUND};
constexpr std::chrono::milliseconds shortest_bound{1}, longest_bound{std::chrono::hours(1)};

constexpr bool is_valid_bound(duration bound) noexcept {
  return bound == duration::zero() || (bound >= shortest_bound && bound <= longest_bound);
}
static_assert(is_valid_bound(default_bound), "QUINTET_STALL_BOUND must be 0, or from 1 to 3600000 (milliseconds)");

/// Milliseconds; nothing if the variable is not set.
std::optional<unsigned> bound_in_environment() {
  const char* const said = ::secure_getenv("QUINTET_STALL_BOUND");
  if (!said || *said == '\0') return std::nullopt;
  const std::string_view text(said);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw config_error("QUINTET_STALL_BOUND is '" + std::string(text) + "'; it must be a whole number of milliseconds");
}

}  // namespace

void validate(const advanced_options& o, std::size_t max_output_total) {
  validate(o.priority);
  validate(o.heartbeat);
  validate(o.rebalance);
  validate(o.stalls);
  validate(o.loop, max_output_total);
  require_value(o.busy_poll >= o.busy_poll.zero() && o.busy_poll <= spin_budget::longest, "busy_poll", o.busy_poll,
                "from 0 to " + duration_text(spin_budget::longest));
}

void validate(const priority_options& o) {
  constexpr std::size_t most_descriptors = 4096;
  constexpr std::size_t most_memory = std::size_t{1} << 30U;
  require_value(o.reserve_descriptors <= most_descriptors, "priority.reserve_descriptors", o.reserve_descriptors,
                "at most " + std::to_string(most_descriptors));
  require_value(o.reserve_memory <= most_memory, "priority.reserve_memory", o.reserve_memory,
                "at most " + std::to_string(most_memory));
}

void validate(const heartbeat_options& o) {
  constexpr duration none = duration::zero();
  constexpr std::string_view whole_intervals = "0, or at least heartbeat.interval, which must then be above 0";
  require_value(o.interval >= none, "heartbeat.interval", o.interval, "at least 0 (0 means off)");
  require_value(o.ping_after == none || (o.is_on() && o.ping_after >= o.interval), "heartbeat.ping_after", o.ping_after,
                whole_intervals);
  require_value(o.evict_after == none || (o.is_on() && o.evict_after >= o.interval), "heartbeat.evict_after",
                o.evict_after, whole_intervals);
  require(o.ping.empty() == (o.ping_after == none), "heartbeat.ping",
          "and heartbeat.ping_after do not match; both must be set, or neither");
  require_value(o.ping.empty() || o.evict_after == none || o.ping_after < o.evict_after, "heartbeat.ping_after",
                o.ping_after, "below heartbeat.evict_after, " + duration_text(o.evict_after));
}

void validate(const rebalance_options& o) {
  require_value(o.factor == 0 || (o.factor >= 1.05 && o.factor <= 1000), "rebalance.factor", o.factor,
                "0 (off), or from 1.05 to 1000");
  require_value(o.interval >= std::chrono::milliseconds(1), "rebalance.interval", o.interval, "at least 1 ms");
}

duration default_stall_bound() {
  const auto said = bound_in_environment();
  return said ? std::chrono::milliseconds(*said) : default_bound;
}

void validate(const stall_options& options) {
  if (is_valid_bound(options.bound)) return;
  // A program that sets no bound has that of the environment: name what its user can change.
  if (const auto said = bound_in_environment(); said && options.bound == std::chrono::milliseconds(*said))
    require_value(false, "QUINTET_STALL_BOUND", *said, "0 (no watchdog), or from 1 to 3600000 milliseconds");
  require_value(false, "stalls.bound", options.bound, "0 (no watchdog), or from 1 ms to 1 h");
}

std::string to_string(const stall& s) {
  std::string line(s.thread.empty() ? "a thread" : s.thread);
  line += " has been stalled for " +
          std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(s.lasted).count()) + " ms";
  if (!s.call.empty()) line += " in " + std::string(s.call);
  if (!s.function.empty()) line += " of " + std::string(s.function);
  if (s.connection) line += ", connection " + to_string(s.connection);
  std::string_view separator = ", at ";
  for (const std::string& frame : s.backtrace) {
    line += std::string(separator) + frame;
    separator = " < ";
  }
  if (s.backtrace.empty()) line += "; no backtrace is available";
  return line;
}

}  // namespace quintet
