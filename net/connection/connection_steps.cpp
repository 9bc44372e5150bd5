// SPDX-License-Identifier: BSL-1.0
// connection_steps: what comes next while the baton is at home: the facts for next_step(), and what each step does.
#include "connection.hpp"

#include "../../base/build/planted_bugs.hpp"
#include "next_step.hpp"

namespace quintet {
namespace {

constexpr duration long_turn = std::chrono::milliseconds(10);  // the peer must have been waited for

}  // namespace

// The baton is at home. A step may call this again: a message closes the connection, or a handler is called and returns
// the baton. The call that is on the stack already goes on then, with new facts.
void connection::settle() noexcept {
  if (settling_ && !planted(detail::bug::settle_is_reentered)) return;
  settling_ = true;
  bool is_refused = false;  // another loop did not take it: that is not tried again before the next event
  bool sees_closing = true;
  while (!state_.failing && !state_.baton_out) {
    detail::connection_facts now = facts();
    now.may_migrate = now.may_migrate && !is_refused;
    now.closing = now.closing && sees_closing;
    if (planted(detail::bug::output_is_lost_at_the_end) && now.closing && state_.receive_ended)
      now.output_waits = state_.sending = false;
    const detail::step next = detail::next_step(now);
    if (next == detail::step::wait) break;
    if (next == detail::step::sort_messages) sees_closing = !planted(detail::bug::settle_is_reentered);
    perform(next);
    is_refused = is_refused || next == detail::step::migrate;
  }
  settling_ = false;
  rest();
}

// Nothing is to do, the baton is out, or the connection has ended.
void connection::rest() noexcept {
  if (!state_.baton_out) {
    charge_input();
    if (!state_.failing && baton_.expects && baton_.has_input && expected() >= input_buffer_.size() + worth_its_place)
      receive_in_place();
  }
  if (connection_deadlines* const d = deadlines()) {
    if (loop_.io().capabilities().blocking_send) note_long_send(*d);
    if (!state_.baton_out) d->hold(looks_away(), loop_.now());
    watch_time();
  }
}

// A send that waits for the peer may have taken long. Where nothing is left to send, the peer has taken bytes just now.
void connection::note_long_send(connection_deadlines& d) noexcept {
  const time_point before = loop_.now();
  loop_.time_has_passed();
  if (!state_.sending && loop_.now() - before > long_turn) d.sent(loop_.now());
}

detail::connection_facts connection::facts() const noexcept {
  return {
      .close_asked = state_.close_asked,
      .closing = baton_.close_wanted,
      .lingering = state_.lingering,
      .has_messages = state_.has_messages,
      .has_calls = baton_.has_calls,
      .output_waits = state_.sending,
      .must_shut_down = baton_.shutdown_wanted && !state_.shut,
      .wants_writable = baton_.wants_writable,
      .below_low_watermark = sending_.size() <= applied_limits().low_watermark,
      .is_scheduled = extras_ && static_cast<const turn_taker&>(*extras_).is_linked(),
      .is_stuck = is_stuck(),
      .may_migrate = extras_ && extras_->goes_to && may_move(),
      .has_unseen_input = state_.has_ahead || has_unseen_,
      .holds_input = holds_input(),
      .reading_differs = !state_.receive_ended && state_.paused == wants_reading(baton_.pause_wanted),
      .undecided = told_.classify && baton_.has_input,
      .drain_is_over = state_.drain_asked && (extras_->drain_left == 0 || state_.receive_ended || baton_.pause_wanted),
      .peer_ended = state_.receive_ended && !state_.has_ahead,
      .may_end = state_.shut || !stays_half_open_,
      .keeps_baton = keeps_baton_,
      .on_drain_is_due = told_.drain,
      .on_read_eof_is_due = told_.read_eof,
  };
}

void connection::perform(detail::step next) noexcept {
  using enum detail::step;
  switch (next) {
    case wait:
      return;
    case accept_close:
      state_.close_asked = false;
      [[fallthrough]];
    case close:
      baton_.close_wanted = true;
      return;
    case linger:
      return begin_to_linger();
    case sort_messages:
      return connection::sort_messages();
    case dispatch_calls:
      return send_out(&connection::process_messages);
    case shut_down_send:
      state_.shut = true;
      return loop_.io().shutdown_send(handle_);
    case schedule_writable:
      return have_extras() ? loop_.line_up(*extras_) : void();
    case migrate:
      return move_on();
    case set_reading:
      return update_reading();
    case deliver_input:
      return deliver_unseen();
    case deliver_end:
      drained_ = drained_ || state_.drain_asked;
      return deliver();
    case deliver_undecided:
      end_classifying();
      return deliver();
    case dispatch_drain:
      told_.drain = false;
      return send_out(&connection::process_drain);
    case dispatch_read_eof:
      told_.read_eof = false;
      stays_half_open_ = true;
      return send_out(&connection::process_read_eof);
    case end:
      return fail(errc::end_of_stream);
  }
}

// What has arrived since the handler was called, and what it has left unused.
void connection::deliver_unseen() noexcept {
  has_unseen_ = false;
  take_input();
  if (!state_.failing && !is_expecting_more()) deliver();
}

// Closing now would reset the connection if the peer has sent more, and a reset may destroy what it has not read yet.
void connection::begin_to_linger() noexcept {
  const duration patience = applied_limits().linger_timeout;
  if (state_.receive_ended || patience == duration::zero()) return fail({});
  if (!have_extras()) return;
  state_.lingering = true;
  ahead_.clear();
  state_.has_ahead = false;
  if (!state_.shut) loop_.io().shutdown_send(handle_);
  loop_.start(*extras_, patience);
  update_reading();
}

}  // namespace quintet
