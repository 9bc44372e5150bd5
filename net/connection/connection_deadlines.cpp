// SPDX-License-Identifier: BSL-1.0
// connection_deadlines: computes the earliest deadline of output and of input.
#include "connection_deadlines.hpp"

#include "../../base/build/planted_bugs.hpp"

#include <algorithm>
#include <chrono>

namespace quintet {
namespace {

void earlier(connection_deadlines::deadline& best, time_point from, duration limit, errc why) noexcept {
  if (limit > duration{} && later(from, limit) < best.when) best = {later(from, limit), why};
}

duration time_for(std::size_t count, std::size_t rate) noexcept {
  if (rate == 0) return {};
  constexpr double longest = 1e9;  // seconds: thirty years, which a duration can hold
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double>(std::min(static_cast<double>(count) / static_cast<double>(rate), longest)));
}

}  // namespace

void connection_deadlines::sent(time_point now) noexcept {
  send_progress_ = now;
  if (!planted(detail::bug::outside_output_is_no_activity)) last_active_ = now;
}

bool connection_deadlines::output(bool waits, time_point now) noexcept {
  const bool begins = waits && (!output_waits_ || planted(detail::bug::new_output_is_progress));
  if (begins) send_progress_ = now;
  output_waits_ = waits;
  return begins;
}

void connection_deadlines::catch_up(time_point since, time_point now) noexcept {
  for (time_point* const noted : {&opened_, &last_active_, &last_received_, &send_progress_, &message_since_})
    if (*noted != never && *noted >= since) *noted = now;
}

connection_deadlines::deadline connection_deadlines::of_output(const connection_limits& limits,
                                                               bool at_rest) const noexcept {
  deadline best;
  if (!output_waits_) return best;
  earlier(best, send_progress_, limits.send_timeout, errc::send_timeout);
  // Without a send timeout, the idle timeout limits how long a peer may take nothing.
  if (at_rest && limits.send_timeout == duration{})
    earlier(best, send_progress_, limits.idle_timeout, errc::idle_timeout);
  return best;
}

connection_deadlines::deadline connection_deadlines::of_input(const connection_limits& limits,
                                                              bool at_rest) const noexcept {
  deadline best;
  if (!at_rest) return best;
  if (!any_received_ && held_since_ == never)
    earlier(best, opened_, limits.first_byte_timeout, errc::first_byte_timeout);
  if (message_since_ != never && held_since_ == never && limits.message_timeout > duration{}) {
    // Received bytes earn time for more bytes, not for silence.
    const time_point bought = later(message_since_, time_for(message_bytes_, limits.min_receive_rate));
    const time_point begins = std::min(bought, std::max(message_since_, last_received_));
    earlier(best, begins, limits.message_timeout, errc::message_timeout);
  }
  if (!output_waits_) earlier(best, last_active_, limits.idle_timeout, errc::idle_timeout);
  return best;
}

}  // namespace quintet
