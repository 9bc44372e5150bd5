// SPDX-License-Identifier: BSL-1.0
// rate_limit: a rate per second with a burst, as a token bucket that stores one point in time; log_limit: lines of a
// log under such a limit.
#pragma once

#include "clock.hpp"
#include "log.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace quintet {

/// A full bucket holds `burst` tokens and gets `rate` new ones a second. It stores the time at which it will be full
/// again (the generic cell rate algorithm), so nothing needs refilling or rounding.
class rate_limit {
 public:
  /// `rate` 0: no limit. `burst` 0: the tokens of one second.
  rate_limit(unsigned rate, unsigned burst) noexcept
      : interval_(rate == 0 ? duration::zero() : duration(std::chrono::seconds(1)) / rate),
        capacity_(interval_ * (burst == 0 ? std::max(rate, 1u) : burst)) {}

  /// Takes a token, even if there is none yet.
  void take(time_point now) noexcept { full_ = std::max(full_, now) + interval_; }
  /// Returns the time until there is a token; zero if there is one.
  [[nodiscard]] duration wait(time_point now) const noexcept {
    return std::max(duration::zero(), std::max(full_, now) + interval_ - capacity_ - now);
  }

 private:
  duration interval_, capacity_;
  time_point full_{};
};

/// Logs at most `per_second` events a second, so that a flood of connections does not become a flood of lines. The
/// first event after a gap says how many were left out: "a connection is refused (and 4711 more before it)".
class log_limit {
 public:
  static constexpr unsigned per_second = 10;  ///< events that are logged

  /// [any thread] Calls the hook, if there is one, unless too many events were logged of late. `make_address` returns
  /// the event's address as a string; it is called only if the event is logged. Without memory for the address or the
  /// count, the event has none.
  template <std::invocable F>
  void report(const log_hook& hook, log_event event, time_point now, F make_address) noexcept {
    if (!hook) return;
    const std::optional<std::uint64_t> missed = take(now);
    if (!missed) return;
    std::string what;
    try {
      if (*missed > 0) event.what = what = with_count(event.what, *missed);
    } catch (const std::bad_alloc&) {  // the event matters more
    }
    detail::report_of_peer(hook, event, std::move(make_address));
  }
  /// [any thread] The same for an event without an address, or with one in `event`.
  void report(const log_hook& hook, const log_event& event, time_point now) noexcept {
    report(hook, event, now, [&] { return std::string(event.address); });
  }

 private:
  /// Returns how many events were left out since the last one that was logged, or nullopt if this one is left out too.
  [[nodiscard]] std::optional<std::uint64_t> take(time_point now) noexcept;
  [[nodiscard]] static std::string with_count(std::string_view what, std::uint64_t missed);

  std::mutex mutex_;
  rate_limit rate_{per_second, 0};
  std::uint64_t missed_ = 0;
};

}  // namespace quintet
