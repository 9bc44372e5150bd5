// SPDX-License-Identifier: BSL-1.0
// connection_core_steps: the coordinator's work while the loop has the baton: facts, steps and end.
#include "../engine/socket_services.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "connection_handoff.hpp"
#include "connection_migration.hpp"
#include "connection_securing.hpp"
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
  if (c.baton_is_out() || !c.baton_flags().core.has_reason || requires_reset(why)) return why;
  return c.baton_extras_ ? c.baton_extras_->close_reason : no_memory();
}

bool is_in_fair_queue(const connection_context& c) noexcept {
  return c.extras_ && static_cast<const fair_task&>(*c.extras_).is_linked();
}

// A handler that reads on gets input while its write waits.
bool must_write_first(const connection_context& c, bool can_schedule) noexcept {
  return c.waits_for_room() && (can_schedule || !c.baton_flags().output.reads_on);
}

// Returns what the handler hears of the end while it works.
cancel_reason end_heard(const error_code& why) noexcept {
  if (why == errc::send_timeout) return cancel_reason::slow_reader;
  return why.category() == boost::system::system_category() && why ? cancel_reason::peer_reset : cancel_reason::failed;
}

constexpr duration long_turn = std::chrono::milliseconds(10);  // a longer turn has waited for the peer

// A send that waits for the peer may have taken long. If nothing is left to send, the peer has just taken bytes.
void note_long_send(connection_context& c, connection_deadlines& d) noexcept {
  const time_point before = c.loop_.now();
  c.loop_.invalidate_now();
  if (!c.loop_flags().output.is_queued && c.loop_.now() - before > long_turn) d.sent(0, c.loop_.now());
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
  after_steps();
}

// Once after all steps: the budget and the clocks depend only on the state in which the steps end.
void connection_core::after_steps() noexcept {
  if (!baton_is_out()) {
    fail_if(input_.charge(*this));
    if (!has_ended()) input_.offer_space(*this);
  }
  if (connection_deadlines* const d = deadlines()) {
    if (loop_.io().capabilities().blocking_send) note_long_send(*this, *d);
    if (!baton_is_out()) {
      d->hold(ignores_input(), loop_.now());
      own_flags().clock_runs = is_timed_ && !d->is_at_rest();
    }
    watch_time();
  }
}

connection_facts connection_core::facts() const noexcept {
  const connection_loop_flags& loop = loop_flags();
  const connection_baton_flags& baton = baton_flags();
  const bool below_low_watermark = output_.queue_size() <= applied_limits().low_watermark;
  const bool is_scheduled = is_in_fair_queue(*this);
  return {
      .close_asked = connection_handoff::must_close(*this) || (baton.core.close_requested && !is_closing()),
      .closing = is_closing(),
      .lingering = is_lingering(),
      .has_messages = loop.handoff.has_messages,
      .has_calls = baton.handoff.has_calls,
      .output_waits = loop.output.is_queued || (baton.input.starts_tls && connection_output::is_at_turn_end(*this)),
      .must_shut_down = baton.output.shutdown_requested && !loop.output.send_shut,
      .wants_writable = must_write_first(*this, below_low_watermark && !is_scheduled),
      .below_low_watermark = below_low_watermark,
      .is_scheduled = is_scheduled,
      .output_holds_input = output_holds_input(),
      .may_migrate = connection_migration::is_wanted(*this) && connection_migration::is_possible(*this),
      .starts_tls = baton.input.starts_tls,
      .has_unseen_input = has_unseen_input(),
      .holds_input = holds_input(),
      .reading_differs = input_.must_change_reading(*this),
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
      connection_handoff::close_is_accepted(*this);
      own_flags().close_requested = true;
      if (!is_closing()) loop_flags(key()) = connection_phase::closing;
      return;
    case linger:
      return begin_to_linger();
    case sort_messages:
      return connection_handoff::sort_messages(*this);
    case dispatch_calls:
      return connection_handoff::dispatch_step(*this, &connection_handoff::calls);
    case shut_down_send:
      return connection_output::shut_down(*this);
    case schedule_writable:
      return make_extras() ? loop_.schedule_fair(*extras_) : out_of_memory();
    case migrate:
      return connection_migration::run(*this);
    default:
      return perform_on_input(next);
  }
}

void connection_core::perform_on_input(step next) noexcept {
  using enum step;
  switch (next) {
    case deliver_input:
      // What arrived since the handler was called, and what it left unread.
      take_input();
      connection_input::note_unseen(*this, false);  // not before: take_input() asks what the handler has left
      if (!has_ended() && !input_.requires_more(*this)) connection_handoff::deliver(*this);
      return;
    case start_tls:
      return connection_securing::run(*this);
    case set_reading:
      return fail_if(input_.update_reading(*this));
    case deliver_end:
      return connection_handoff::deliver(*this);
    case dispatch_drain:
      enabled_.drain = false;
      return connection_handoff::dispatch_step(*this, connection_handoff::drain);
    case dispatch_read_eof:
      enabled_.read_eof = false;
      stays_half_open_ = true;
      return connection_handoff::dispatch_step(*this, connection_handoff::read_eof);
    case end:
      return fail(errc::end_of_stream);
    default:
      return;
  }
}

// Closing now would reset the connection if the peer has sent more. A reset may destroy output that is not read yet.
void connection_core::begin_to_linger() noexcept {
  const duration patience = applied_limits().linger_timeout;
  if (loop_flags().input.peer_ended || loop_flags().output.send_failed || patience == duration::zero()) return fail({});
  if (!make_extras()) return out_of_memory();
  loop_flags(key()) = connection_phase::lingering;
  input_.drop_pending(*this);
  connection_output::shut_down(*this);
  loop_.start(*extras_, patience);
  fail_if(input_.update_reading(*this));
}

// ---- The end --------------------------------------------------------------------------------------------------------

// For the user, EPIPE of a send is the reset that it tells of.
error_code connection_core::reason() const noexcept {
  const bool is_pipe = loop_flags().output.send_failed && reason_ == EPIPE;
  return {is_pipe ? ECONNRESET : reason_, *reason_category_};
}

// The peer receives nothing more, and may have sent much before: it is delivered. Then the peer has the time of a
// lingering connection to send the rest and its end.
void connection_core::stop_sending(error_code why) noexcept {
  if (has_ended()) return;
  tell(cancel_reason::peer_reset);
  if (reason_ == 0) std::tie(reason_, reason_category_) = std::pair(why.value(), &why.category());
  if (is_closing()) return fail(why);  // only output mattered
  if (const end_reason more = output_.discard(*this)) return fail(more.code());
  if (!make_deadlines()) return out_of_memory();
  extras_->deadlines->sending_failed(loop_.now());
  if (baton_is_out()) extras_->deadlines->hold(true, loop_.now());  // as dispatch_step() does from now on
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
  closed_here_ = why.value() == 0 && (is_lingering() || !loop_flags().input.peer_ended);
  end_without_close();
  std::tie(reason_, reason_category_) = std::pair(why.value(), &why.category());
  host_.registry.remove(id_);
  report_limit(host_.log, why, [this] { return peer(); });
  output_.drop_queue(*this);
  connection_input::release_charge(*this);
  keep_carried(loop_.io().remove(*this));
  if (has_baton_here()) connection_output::refuse_writes(*this);
  if (baton_is_out()) {
    connection_output::schedule_notices(*this);
    tell(end_heard(why));
    return connection_securing::is_in_progress(*this) ? connection_securing::stop(*this) : void();
  }
  // A coroutine that waits for room learns of the end by this call, and asks for the reason.
  if (why && why != errc::end_of_stream) heard_.tell(end_heard(why));
  begin_to_close();
}

void connection_core::end_without_close() noexcept {
  loop_flags(key()) = connection_phase::ended;
  if (extras_) extras_->cancel();
}

// The baton was returned for the last time: no other thread can use the handle.
void connection_core::begin_to_close() noexcept {
  if (enabled_.close) keep_ends();
  if (requires_reset(reason()) || loop_flags().output.partial_message) loop_.io().sockets().reset_when_closed(handle_);
  output_.drop_builder(*this);
  loop_.io().close(take_stream());
  connection_output::call_all_notices(*this, why_not_sent());
  connection_handoff::dispatch_step(*this, &connection_handoff::close);
}

void connection_core::close_is_done() noexcept {
  guard_.leave();
  become(&connection_handoff::destroy);
  if (loop_.in_this_thread())
    loop_.defer(*this);
  else
    loop_.post(static_cast<work_item&>(*this));
}

// ---- Migration ------------------------------------------------------------------------------------------------------

void connection_core::take_from(connection_core& from) noexcept {
  handle_ = std::exchange(from.handle_, -1);
  id_ = from.id_;
  enabled_ = from.enabled_;
  has_told_ends_ = from.has_told_ends_;
  is_ip_ = from.is_ip_;
  enabled_.classify &= host_.priority_loop != &loop_;
  own_ = std::move(from.own_);
  take_cost_from(from);
  if (!from.silence_.is_unbroken()) silence_.end();
  if (from.deadlines() && make_extras())
    extras_->deadlines = std::move(from.extras_->deadlines);  // without memory attach() makes others, or fails
  baton_extras_ = std::move(from.baton_extras_);
  heard_.take_from(from.heard_);
  input_.take_from(*this, from.input_, from);
}

}  // namespace quintet::detail
