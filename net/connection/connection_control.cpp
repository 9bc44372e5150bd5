// SPDX-License-Identifier: BSL-1.0
// connection_control: messages from other threads, settings, time limits, draining.
#include "connection.hpp"

#include <algorithm>
#include <utility>

namespace quintet {

// ---- Settings: changed by the baton, adopted by the loop when it comes home -----------------------------------------

connection::settings& connection::changed_settings() {
  std::unique_ptr<settings>& changed = extras_of_baton().changed;
  if (!changed) changed = own_ ? std::make_unique<settings>(*own_) : std::make_unique<settings>(host_.limits);
  baton_.has_changes = true;
  return *changed;
}

void connection::set_limits(const connection_limits& limits) {
  check_held();
  validate(limits);
  changed_settings().limits = limits;
}

void connection::feed_from(connection_id source) {
  check_held();
  changed_settings().source = source;
}

void connection::adopt_settings() noexcept {
  if (event_loop* const to = std::exchange(baton_extras_->goes_to, nullptr); to && have_extras())
    if (!extras_->goes_to || extras_->goes_to != host_.lane) extras_->goes_to = to;
  baton_.has_changes = false;
  if (!baton_extras_->changed || state_.failing) return;
  if (state_.above_watermark) tell_above(false);
  own_ = std::move(baton_extras_->changed);
  if (state_.above_watermark) tell_above(true);
  const bool checks = baton_.checks_writes;  // so that what is written already goes the way that it asks for
  use_limits();
  baton_.checks_writes |= checks;
  if (!state_.failing) watch_watermarks();  // they may be others
}

void connection::use_limits() noexcept {
  const connection_limits& l = applied_limits();
  gauge_writes();
  baton_.timed = l.timed();
  if (!baton_.timed) {
    if (extras_) extras_->deadlines.reset();
  } else if (have_extras() && !extras_->deadlines) {
    extras_->deadlines.reset(new (std::nothrow) connection_deadlines(loop_.now(), state_.sending,
                                                                     !silence_or_reason_.silence.is_unbroken()));
    if (!extras_->deadlines) return out_of_memory();
    if (const std::size_t before = input_buffer_.size() + ahead_.size(); before > 0)
      extras_->deadlines->received(before, loop_.now());
  }
}

// ---- Messages -------------------------------------------------------------------------------------------------------

// On the loop. What needs the baton waits for it; what does not waits only for the end of a message that is being
// written, so that bytes from outside never come to lie within it.
void connection::take(std::unique_ptr<connection_message> message) noexcept {
  const bool at_once = !message->needs_baton_ && takes_bytes_now();
  if (state_.failing) return;
  if (state_.lingering || (!state_.baton_out && baton_.close_wanted))
    return at_once ? void() : host_.registry.release(id_, message->cost_);
  if (at_once) return message->run(*this);
  if (!have_extras()) return;
  extras_->messages.push(*message.release());
  state_.has_messages = true;
  if (!state_.baton_out) settle();
}

// The baton is at home.
void connection::sort_messages() noexcept {
  if (!state_.has_messages) return;
  state_.has_messages = false;
  std::size_t done = 0;
  while (work_item* next = state_.failing ? nullptr : extras_->messages.pop()) {
    std::unique_ptr<connection_message> message(static_cast<connection_message*>(next));
    if (!message->needs_baton_) {
      done += message->cost_;
      message->run(*this);
    } else if (have_baton_extras()) {
      baton_extras_->calls.push(*message.release());
      baton_.has_calls = true;
    }
  }
  if (done > 0) host_.registry.release(id_, done);
}

void connection::drop_messages(work_fifo& from) noexcept {
  while (work_item* next = from.pop()) delete static_cast<connection_message*>(next);
}

void connection::close_from_outside() noexcept {
  if (state_.baton_out) {
    state_.close_asked = true;
    return;
  }
  baton_.close_wanted = true;
  settle();
}

void connection::abort_from_outside() noexcept {
  const bool was_out = state_.baton_out;
  fail(errc::aborted);
  if (was_out) interrupt();  // and not what it begins when it has learned of the end
}

void connection::hold_reading(int change) noexcept {
  if (state_.failing || state_.lingering || !have_extras()) return;
  extras_->holds += change;
  state_.held = extras_->holds > 0;
  if (!state_.baton_out) return settle();
  set_reading(wants_reading(false));  // whether the handler pauses is the baton's to say
}

// ---- Time -----------------------------------------------------------------------------------------------------------

// Starts the timer if it would fire too late. If it fires too early, expired() starts it again.
void connection::watch_time() noexcept {
  const connection_deadlines* const d = deadlines();
  if (!d || state_.failing || state_.lingering) return;
  const auto due = d->next(applied_limits(), !state_.baton_out);
  if (due.when == time_point::max() || (extras_->pending() && extras_->deadline() <= due.when)) return;
  loop_.start(*extras_, due.when - loop_.now());
}

void detail::connection_loop_extras::expired() noexcept { end.of.expired(); }

// A deadline ends the connection only if it has still passed when the loop has looked at what the peer has done in
// time: all that had arrived has been received, and more was offered. A send that waits for the peer was such a look.
void connection::expired() noexcept {
  if (state_.lingering) return fail({});
  connection_deadlines* const d = deadlines();
  if (!d) return;
  const time_point now = loop_.now();
  const auto output = d->of_output(applied_limits(), !state_.baton_out);
  const auto input = d->of_input(applied_limits(), !state_.baton_out);
  if (std::min(output, input).when > now) return watch_time();
  const bool output_is_due = output.when <= now;
  if (output_is_due && (d->confirm_output(output, now) || loop_.io().capabilities().blocking_send))
    return fail(output.why);
  if (input.when <= now && d->confirm_input(input, state_.paused ? 0 : loop_.io().sockets().unread(handle_), now))
    return fail(input.why);
  d->catch_up(loop_.dispatched_at(), now);
  loop_.start(*extras_, {});
  if (output_is_due) on_sendable();
}

// ---- Silence --------------------------------------------------------------------------------------------------------

// A loop that was held up has not received what has come meanwhile; and who waits for an answer may be silent.
void connection::end_if_silent(std::uint32_t looks) noexcept {
  if (state_.failing || state_.lingering || silence_or_reason_.silence.looks() < looks) return;
  if (state_.baton_out || loop_.io().sockets().unread(handle_) > 0) return silence_or_reason_.silence.ends();
  loop_.counters().evicted.add();
  fail(errc::heartbeat_timeout);
}

// ---- Draining -------------------------------------------------------------------------------------------------------

// What the kernel has received by now has been received; what comes later has not, and gets no answer.
void connection::drain() noexcept {
  if (state_.drain_asked || state_.failing || state_.lingering) return;
  if (!have_extras()) return;
  state_.drain_asked = true;
  extras_->drain_left = loop_.io().sockets().unread(handle_);
  if (state_.baton_out) return;
  baton_.drain_begun = true;
  settle();
}

}  // namespace quintet
