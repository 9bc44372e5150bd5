// SPDX-License-Identifier: BSL-1.0
// connection_core_steps: the coordinator's work while the loop has the baton: facts, steps and end.
#include "../engine/socket_services.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "connection_handoff.hpp"
#include "connection_migration.hpp"
#include "next_step.hpp"

#include <cerrno>
#include <new>
#include <tuple>
#include <utility>

namespace quintet::detail {
namespace {

/// Returns whether `why` is a configured limit: the log explains these.
bool is_a_limit(const error_code& why) noexcept {
  return why && why.category() == quintet_category() && why != errc::end_of_stream && why != errc::stopped &&
         why != errc::handler_threw && why != errc::aborted;
}

void report_limit(const log_hook& log, const error_code& why, auto peer) noexcept try {
  if (log && is_a_limit(why)) report(log, {severity::info, "a connection is closed", why, peer()});
} catch (const std::bad_alloc&) {  // no memory left to log
}

/// The peer does not read, so reset instead of FIN: queued bytes would linger in the kernel for minutes.
bool requires_reset(const error_code& why) noexcept {
  return why == errc::output_overflow || why == errc::output_full || why == errc::send_timeout || why == errc::aborted;
}

// Returns the handler's reason, if it gave one and the peer is not at fault; else `why`.
error_code chosen_reason(const connection_context& c, const error_code& why) noexcept {
  if (c.baton_is_out() || !c.baton_flags_.handoff.has_reason || requires_reset(why)) return why;
  return c.baton_extras_ ? c.baton_extras_->close_reason : no_memory();
}

constexpr duration long_turn = std::chrono::milliseconds(10);  // a longer turn has waited for the peer

// A send that waits for the peer may have taken long. If nothing is left to send, the peer has just taken bytes.
void note_long_send(connection_context& c, connection_deadlines& d) noexcept {
  const time_point before = c.loop_.now();
  c.loop_.invalidate_now();
  if (!c.loop_flags_.output.is_queued && c.loop_.now() - before > long_turn) d.sent(0, c.loop_.now());
}

}  // namespace

// A step may call this again: a message closes the connection, or a handler returns the baton. The outer call then
// continues with new facts.
void connection_core::run_steps() noexcept {
  if (is_stepping_) return;
  is_stepping_ = true;
  bool is_refused = false;  // another loop refused the connection: retry only at the next event
  while (!has_ended() && !baton_is_out()) {
    connection_facts now = facts();
    now.may_migrate = now.may_migrate && !is_refused;
    const step next = next_step(now);
    if (next == step::wait) break;
    perform(next);
    is_refused = is_refused || next == step::migrate;
  }
  is_stepping_ = false;
  rest();
}

// Runs when nothing is left to do, the baton is out, or the connection has ended.
void connection_core::rest() noexcept {
  if (!baton_is_out()) {
    fail_if(input_.charge(*this));
    if (!has_ended()) input_.offer_space(*this);
  }
  if (connection_deadlines* const d = deadlines()) {
    if (loop_.io().capabilities().blocking_send) note_long_send(*this, *d);
    if (!baton_is_out()) d->hold(ignores_input(), loop_.now());
    watch_time();
  }
}

connection_facts connection_core::facts() const noexcept {
  const connection_loop_flags& loop = loop_flags_;
  const connection_baton_flags& baton = baton_flags_;
  return {
      .close_asked = (loop.handoff.close_asked && !loop.handoff.has_messages && !baton.handoff.has_calls) ||
                     (baton.handoff.close_requested && !is_closing()),
      .closing = is_closing(),
      .lingering = is_lingering(),
      .has_messages = loop.handoff.has_messages,
      .has_calls = baton.handoff.has_calls,
      .output_waits = loop.output.is_queued,
      .must_shut_down = baton.output.shutdown_requested && !loop.output.send_shut,
      .wants_writable = waits_for_room(),
      .below_low_watermark = output_.queue_size() <= applied_limits().low_watermark,
      .is_scheduled = is_scheduled_fair(),
      .is_stuck = is_stuck(),
      .may_migrate = has_migration_target() && connection_migration::is_possible(*this),
      .has_unseen_input = has_unseen_input(),
      .holds_input = holds_input(),
      .reading_differs = input_.must_change_reading(*this, baton.input.paused),
      .undecided = is_undecided(),
      .drain_is_over = is_drain_finished(),
      .peer_ended = loop.input.peer_ended && !has_unseen_input(),
      .peer_was_reset = loop.input.was_reset,
      .may_end = loop.output.send_shut || loop.output.send_failed || !stays_half_open_,
      .keeps_baton = constants_.keeps_baton,
      .on_drain_is_due = enabled_.drain,
      .on_read_eof_is_due = enabled_.read_eof,
  };
}

void connection_core::perform(step next) noexcept {
  using enum step;
  switch (next) {
    case wait:
      return;
    case accept_close:
    case close:
      return accept_close_request();
    case linger:
      return begin_to_linger();
    case sort_messages:
      return run_loop_messages();
    case dispatch_calls:
      return connection_handoff::hand_off(*this, &connection_handoff::calls);
    case shut_down_send:
      loop_flags_.output.send_shut = true;
      return loop_.io().shutdown_send(*this);
    case schedule_writable:
      return make_extras() ? loop_.schedule_fair(*extras_) : out_of_memory();
    case migrate:
      return connection_migration::run(*this);
    default:
      return perform_on_input(next);
  }
}

// Performs the steps of decide_on_input(): input, then its end.
void connection_core::perform_on_input(step next) noexcept {
  using enum step;
  switch (next) {
    case deliver_input:
      return deliver_unseen();
    case set_reading:
      return fail_if(input_.update_reading(*this, baton_flags_.input.paused));
    case deliver_end:
      drained_ = drained_ || is_draining();
      return connection_handoff::deliver(*this);
    case deliver_undecided:
      connection_migration::end_classifying(*this);
      return connection_handoff::deliver(*this);
    case dispatch_drain:
      enabled_.drain = false;
      return connection_handoff::hand_off(*this, &connection_handoff::drain);
    case dispatch_read_eof:
      enabled_.read_eof = false;
      stays_half_open_ = true;
      return connection_handoff::hand_off(*this, &connection_handoff::read_eof);
    case end:
      return fail(errc::end_of_stream);
    default:
      return;
  }
}

void connection_core::accept_close_request() noexcept {
  loop_flags_.handoff.close_asked = false;
  baton_flags_.handoff.close_requested = true;
  if (!is_closing()) loop_flags_.phase = connection_phase::closing;
}

void connection_core::run_loop_messages() noexcept {
  loop_flags_.handoff.has_messages = false;
  std::size_t done = 0;
  while (!has_ended()) {
    std::unique_ptr<connection_message> message = extras_->messages.pop();
    if (!message) break;
    if (loop_flags_.handoff.close_asked) {  // behind a close
      done += message->cost_;
    } else if (!message->needs_baton_) {
      done += message->cost_;
      message->run(as_connection());
    } else if (make_baton_extras()) {
      baton_extras_->calls.push(std::move(message));
      baton_flags_.handoff.has_calls = true;
    } else {
      out_of_memory();
    }
  }
  if (done > 0) host_.registry.release(id_, done);
}

// Delivers input that arrived since the handler was called, and input that it left unread.
void connection_core::deliver_unseen() noexcept {
  take_input();
  has_unseen_ = false;  // not before: take_input() asks what the handler has left
  if (!has_ended() && !input_.requires_more(*this)) connection_handoff::deliver(*this);
}

// Closing now would reset the connection if the peer has sent more. A reset may destroy output that is not read yet.
void connection_core::begin_to_linger() noexcept {
  const duration patience = applied_limits().linger_timeout;
  if (loop_flags_.input.peer_ended || loop_flags_.output.send_failed || patience == duration::zero()) return fail({});
  if (!make_extras()) return out_of_memory();
  loop_flags_.phase = connection_phase::lingering;
  input_.drop_pending(*this);
  if (!loop_flags_.output.send_shut) loop_.io().shutdown_send(*this);
  loop_.start(*extras_, patience);
  fail_if(input_.update_reading(*this, baton_flags_.input.paused));
}

// ---- The end --------------------------------------------------------------------------------------------------------

// For the user, EPIPE of a send is the reset that it tells of.
error_code connection_core::reason() const noexcept {
  const bool is_pipe = loop_flags_.output.send_failed && reason_ == EPIPE;
  return {is_pipe ? ECONNRESET : reason_, *reason_category_};
}

// The peer receives nothing more, and may have sent much before: it is delivered. Then the peer has the time of a
// lingering connection to send the rest and its end.
void connection_core::stop_sending(error_code why) noexcept {
  if (has_ended()) return;
  if (reason_ == 0) std::tie(reason_, reason_category_) = std::pair(why.value(), &why.category());
  if (is_closing()) return fail(why);  // only output mattered
  if (const end_reason more = output_.discard(*this)) return fail(more.code());
  if (!make_deadlines()) return out_of_memory();
  extras_->deadlines->sending_failed(loop_.now());
  watch_time();
}

void connection_core::on_send_failed(error_code reason) noexcept {
  stop_sending(reason);
  if (!has_ended() && !baton_is_out()) run_steps();
}

void connection_core::fail(error_code why) noexcept {
  if (has_ended()) return;
  if (reason_ != 0) why = reason();  // of a send or a reset that left input to deliver
  why = chosen_reason(*this, why);
  closed_here_ = why.value() == 0 && (is_lingering() || !loop_flags_.input.peer_ended);
  loop_flags_.phase = connection_phase::ended;
  std::tie(reason_, reason_category_) = std::pair(why.value(), &why.category());
  host_.registry.remove(id_);
  report_limit(host_.log, why, [this] { return peer(); });
  const bool is_cut = output_.drop_queue(*this);
  connection_input::release_charge(*this);
  keep_carried(loop_.io().remove(*this));
  if (is_cut) loop_flags_.output.partial_message = true;  // a truncated reply must not look complete
  if (extras_) extras_->cancel();
  if (!baton_is_out() || (constants_.runs_here && !baton_lent_)) baton_flags_.refuse_writes();
  if (baton_is_out())
    connection_output::schedule_notices(*this);
  else
    begin_to_close();
}

// The baton was returned for the last time: no other thread can use the handle.
void connection_core::begin_to_close() noexcept {
  if (is_open_ && enabled_.close) remember_peer();
  if (requires_reset(reason()) || loop_flags_.output.partial_message) loop_.io().sockets().reset_when_closed(handle_);
  output_.drop_builder(*this);
  loop_.io().close(take_stream());
  connection_output::call_all_notices(*this, why_not_sent());
  connection_handoff::hand_off(*this, &connection_handoff::close);
}

void connection_core::close_is_done() noexcept {
  guard_.leave();
  become(&connection_handoff::destroy);
  if (loop_.in_this_thread())
    loop_.defer(*this);
  else
    loop_.post(static_cast<work_item&>(*this));
}

}  // namespace quintet::detail
