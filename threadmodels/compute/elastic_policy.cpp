// SPDX-License-Identifier: BSL-1.0
// elastic_policy: when the pool grows and shrinks, and when an overload begins and ends.
#include "elastic_policy.hpp"

#include <algorithm>

namespace quintet {
namespace {

/// `earlier` may be time_point::min(), which means "never".
bool is_within(time_point earlier, duration span, time_point now) noexcept {
  return earlier != time_point::min() && now - earlier < span;
}

}  // namespace

std::optional<worker_event> elastic_policy::growth(time_point now, duration waited,
                                                   duration no_progress) const noexcept {
  if (is_within(grew_at_, std::min(limits_.queue_latency, limits_.stuck_time), now)) return {};
  if (no_progress >= limits_.stuck_time) return worker_event::grown_when_stuck;
  if (waited >= limits_.queue_latency) return worker_event::grown_for_latency;
  return {};
}

// Doubles the factor of the idle time only at the first growth after threads have left.
void elastic_policy::note_growth(time_point now) noexcept {
  if (is_within(unmissed_since_, 2 * idle_time(), now)) idle_factor_ = std::min(2 * idle_factor_, max_idle_factor);
  unmissed_since_ = time_point::min();
  grew_at_ = now;
}

bool elastic_policy::may_leave(time_point now) const noexcept {
  return idle_factor_ == 1 || !is_within(left_at_, idle_time(), now);
}

void elastic_policy::note_leaving(time_point now) noexcept {
  if (unmissed_since_ != time_point::min()) idle_factor_ -= idle_factor_ > 1 ? std::max(1u, idle_factor_ / 4) : 0;
  left_at_ = unmissed_since_ = now;
}

std::optional<worker_event> elastic_policy::update_load(duration waited, bool may_grow) noexcept {
  if (!overloaded_ && !may_grow && is_late(waited)) {
    overloaded_ = true;
    return worker_event::overload_begins;
  }
  if (overloaded_ && waited < limits_.overload_latency / 2) {
    overloaded_ = false;
    return worker_event::overload_ends;
  }
  return {};
}

}  // namespace quintet
