// SPDX-License-Identifier: BSL-1.0
// securing_queue: gives turns.
#include "securing_queue.hpp"

#include <utility>

namespace quintet {

bool is_failure(error_code reason) noexcept {
  return reason && reason.category() != boost::system::system_category() && reason != errc::end_of_stream &&
         reason != errc::stopped;
}

void count_end(handshake_counters& in, error_code reason) noexcept {
  if (reason == errc::stopped) return;
  if (!is_failure(reason)) return (reason ? in.gone : in.done).add();
  in.failed.add();
  const auto is_any_of = [reason](auto... these) { return ((reason == these) || ...); };
  using enum errc;
  if (reason == not_tls)
    in.not_tls.add();
  else if (reason == tls_version_refused)
    in.bad_version.add();
  else if (is_any_of(tls_certificate_missing, tls_certificate_expired, tls_certificate_refused))
    in.bad_certificate.add();
  else if (reason == tls_handshake_timeout)
    in.timed_out.add();
  else if (reason == input_before_tls)
    in.input_before.add();
  else
    in.otherwise_broken.add();
}

namespace {

// A thread's next step does not wait for the loop. A loop with one stream delays nobody else by its steps.
unsigned most_aside(event_loop& loop, const model_interface* model) noexcept {
  return model && !loop.io().capabilities().single_stream ? 2 * model->aside_threads() : 0;
}

}  // namespace

securing_queue::securing_queue(event_loop& loop, std::shared_ptr<handshake_source> source,
                               const handshake_limits& limits, model_interface* model,
                               handshake_counters* counted) noexcept
    : work_item([](work_item& self) noexcept { static_cast<securing_queue&>(self).take_steps(); }),
      loop_(loop),
      source_(std::move(source)),
      limits_(limits),
      model_(model),
      most_aside_(most_aside(loop, model)),
      counters_(counted ? *counted : own_counters_),
      rate_(limits.per_second, 0) {}

std::optional<duration> securing_queue::next_begins_in() const noexcept {
  if (new_.empty() || !has_room()) return std::nullopt;
  return rate_.wait(loop_.now());
}

bool securing_queue::can_step() const noexcept {
  return (!goes_aside() || aside_ < most_aside_) && (!begun_.empty() || next_begins_in() == duration::zero());
}

void securing_queue::take_steps() noexcept {
  for (bool goes_on = true; goes_on && can_step();) {
    turn_list& next = begun_.empty() ? new_ : begun_;
    if (&next == &new_) rate_.take(loop_.now());
    securing_stream& one = next.front();
    next.pop_front();
    goes_on = one.take_step();
  }
  is_scheduled_ = false;
  schedule();
}

// Deferred work runs at the end of this turn; what it defers runs at the end of the next, which does not wait.
void securing_queue::schedule() noexcept {
  if (is_scheduled_) return;
  if (!can_step()) {
    if (const auto wait = next_begins_in(); wait > duration::zero()) loop_.start(*this, *wait);
    return;
  }
  is_scheduled_ = true;
  loop_.defer(*this);
}

void securing_queue::finish_or_stop() noexcept {
  for (auto next = all_.begin(); next != all_.end();) {
    securing_stream& one = *next++;
    one.receive();
    one.finish_step_here();
  }
  stop();
}

void securing_queue::stop() noexcept {
  while (!all_.empty()) all_.front().finish(errc::stopped);
}

}  // namespace quintet
