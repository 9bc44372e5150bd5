// SPDX-License-Identifier: BSL-1.0
// connection_deadlines: computes the earliest deadline of output and of input.
#include "connection_deadlines.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

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

constexpr int samples_per_limit = 16;
constexpr duration shortest_pause = std::chrono::milliseconds(1);

}  // namespace

void connection_deadlines::sent(std::size_t count, time_point now) noexcept {
  given_ += static_cast<std::int64_t>(count);
  last_active_ = now;
}

bool connection_deadlines::output(bool waits, time_point now) noexcept {
  const bool begins = waits && !output_waits_;
  if (begins) {
    send_progress_ = sampled_at_ = now;
    taken_ = std::numeric_limits<std::int64_t>::max();
  }
  output_waits_ = waits;
  return begins;
}

void connection_deadlines::sample_progress(std::size_t unsent, time_point now) noexcept {
  const std::int64_t taken = given_ - static_cast<std::int64_t>(unsent);
  if (taken > taken_ || unsent == 0) send_progress_ = now;
  taken_ = taken_ == std::numeric_limits<std::int64_t>::max() ? taken : std::max(taken, taken_);
  sampled_at_ = now;
}

time_point connection_deadlines::next_sample(const connection_limits& limits, bool at_rest) const noexcept {
  const time_point output = of_output(limits, at_rest).when, next = std::min(output, of_input(limits, at_rest).when);
  if (output == time_point::max()) return next;
  return std::min(next, later(sampled_at_, sample_interval(limits)));
}

duration connection_deadlines::sample_interval(const connection_limits& limits) noexcept {
  const duration longest = limits.longest_send();
  return longest == duration::max() ? longest : std::max(longest / samples_per_limit, shortest_pause);
}

duration connection_deadlines::longest_send(const connection_limits& limits, time_point now) const noexcept {
  const duration pause = sample_interval(limits);
  const deadline due = of_output(limits, true);
  return due.when == time_point::max() ? pause : std::clamp(between(now, due.when), shortest_pause, pause);
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
  if (send_failed_ && held_since_ == never)
    earlier(best, last_received_, std::max(limits.linger_timeout, duration{1}), errc::idle_timeout);
  return best;
}

}  // namespace quintet
