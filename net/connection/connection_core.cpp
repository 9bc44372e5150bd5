// SPDX-License-Identifier: BSL-1.0
// connection_core: handles events of the engine, loop, registry and handler; opens and ends the connection.
#include "connection_core.hpp"

#include "../engine/socket_services.hpp"
#include "../loop/cancel_reason.hpp"
#include "../watch/activity.hpp"
#include "../watch/stall_watchdog.hpp"
#include "connection.hpp"
#include "connection_extras.hpp"
#include "connection_handoff.hpp"
#include "connection_migration.hpp"
#include "urgent_frames.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace quintet::detail {
namespace {

void look_at_output(connection_context& c) noexcept {
  if (connection_deadlines* const d = c.deadlines(); d && d->output_waits())
    d->look(c.loop_.io().unsent(c), c.loop_.now());
}

// An error of the socket is told once: a send may have had it. EPIPE is a reset after the peer's orderly end.
error_code reason_of_end(const connection_core& c, const error_code& told) noexcept {
  const bool was_told = c.loop_flags_.output.send_failed && c.reason() != system_error_code(EPIPE);
  return !told && was_told ? c.reason() : told;
}

bool has_undelivered_input(const connection_context& c) noexcept { return c.baton_is_out() || c.has_unseen_input(); }

// What had arrived when the deadline was doubted first has been received, or is not read.
bool is_confirmed(connection_core& c, connection_deadlines& d, const connection_deadlines::deadline& due) noexcept {
  engine& io = c.loop_.io();
  const bool again = d.confirm_input(due, c.loop_.now()), stopped = c.loop_flags_.input.stopped;
  if (!again) d.at_doubt() = stopped ? arrival() : io.arrived(c);
  return again && (stopped || !io.has_more(c, d.at_doubt()));
}

// A coroutine in a read learns of the end within fail(), and may then begin an operation, which must be cancelled. An
// operation in progress is cancelled after fail(), so that the coroutine learns of the end.
void interrupt_and_fail(connection_core& c, cancel_reason why) noexcept {
  const bool was_out = c.baton_is_out();
  if (!was_out) c.interrupt(why);
  c.fail(error_of(why));
  if (was_out) c.interrupt(why);
}

}  // namespace

connection_core::connection_core(event_loop& loop, connection_host& host, handoff_constants constants, bool migrated)
    : session_interface(loop, host, constants), work_item(&connection_handoff::open, &connection_handoff::on_handoff) {
  loop_flags_.handoff.slow_path = needs_slow_path();
  if (!migrated) loop_.join(*this);
}

connection_core::~connection_core() {
  if (is_linked()) loop_.leave(*this);
  output_.release(*this);
}

connection& connection_core::as_connection() noexcept { return static_cast<connection&>(*this); }

error_code connection_core::open(stream_handle&& stream, enabled_callbacks enabled) noexcept {
  if (loop_.stopping()) return errc::stopped;
  if (!use_limits() || (stream.carried() && !make_baton_extras())) return no_memory();
  if (const error_code refused = loop_.io().add(*this, std::move(stream))) return refused;
  bool draining = false;
  try {
    const auto added = host_.registry.add(as_connection());
    id_ = added.id;
    draining = added.draining;
  } catch (const std::exception&) {
    stream = loop_.io().remove(*this);
    return no_memory();
  }
  loop_.counters().opened.add();
  handle_ = handle();
  enabled_ = enabled;
  enabled_.classify &= host_.priority_loop && can_detach_connections(loop_) && host_.priority_loop != &loop_;
  loop_flags_.handoff.slow_path = needs_slow_path();
  if (constants_.is_watched) host_.watchdog->watch_this_thread();
  is_open_ = true;
  if (enabled_.open) {
    enabled_.open = false;
    connection_handoff::hand_off(*this, &connection_handoff::open);
  }
  watch_time();
  if (draining) drain();
  return {};
}

// ---- Input ----------------------------------------------------------------------------------------------------------

void connection_core::on_received(bytes arrived) noexcept {
  note_received(arrived.size());
  receive(arrived);
}

// Delivers input, or keeps it until the handler can have it.
[[gnu::always_inline]] inline void connection_core::take_in(bytes arrived) noexcept {
  try {
    if (!is_idle_but_for_slow_path()) [[unlikely]] {
      if (queues_input()) {
        fail_if(input_.append_pending(*this, arrived));
        if (!baton_is_out() && !holds_input()) run_steps();
        return;
      }
      if (is_closing()) return;  // only the remaining output still matters
    }
    if (constants_.keeps_baton || baton_flags_.input.has_unread || baton_flags_.input.requires_more) {
      input_.append(*this, arrived);
      if (input_.requires_more(*this)) return run_steps();
    } else {
      loop_.lend_input(arrived);
      batch_.input_is_lent = true;
    }
  } catch (const std::exception&) {
    return out_of_memory();
  }
  connection_handoff::deliver(*this);
}

void connection_core::receive(bytes arrived) noexcept {
  if (is_lingering()) return;
  if (is_draining()) {
    if (!has_more_to_drain_) return;  // the peer sent it after draining began
    extras_->at_drain.delivered += arrived.size();
    has_more_to_drain_ = loop_.io().has_more(*this, extras_->at_drain);
  }
  if (connection_deadlines* const d = deadlines()) d->received(arrived.size(), loop_.now());
  if (enabled_.urgent) [[unlikely]]
    if (arrived = filter_urgent(arrived, false); arrived.empty()) return watch_time();
  take_in(arrived);
}

// Answers urgent messages on the loop, even while the handler runs or its batch waits for a pool. Returns the rest for
// the handler; nothing if the connection has ended. No handler is sending meanwhile: only this thread sends.
bytes connection_core::filter_urgent(bytes arrived, bool at_end) noexcept try {
  auto& found = loop_.use<urgent_result>();
  const bool answers = connection_output::takes_from_outside(*this) && !loop_flags_.output.above_watermark;
  found.begin(answers ? output_.room_below_watermark(*this) : 0);
  const bytes left = run_filter_urgent(arrived, at_end, found);
  loop_.counters().urgent.add(found.answered);
  if (!found.reply.empty()) fail_if(output_.send_urgent(*this, found.reply));
  if (has_ended()) return {};
  // An urgent message is not the start of a message that the server waits for.
  const bool nothing_else = left.empty() && !found.holds_back && !baton_is_out() && !loop_flags_.input.has_pending;
  if (connection_deadlines* const d = deadlines(); d && nothing_else && !baton_flags_.input.has_unread) d->answered();
  return left;
} catch (...) {
  report_exception();
  loop_.counters().handler_errors.add();
  fail(errc::handler_threw);
  return {};
}

std::span<char> connection_core::receive_space() noexcept try {
  return input_.receive_space(*this);
} catch (const std::exception&) {
  out_of_memory();
  return {};
}

void connection_core::on_received_in_place(std::size_t count) noexcept {
  note_received(count);
  loop_.counters().bytes_in_place.add(count);
  if (connection_deadlines* const d = deadlines()) d->received(count, loop_.now());
  input_.received_in_place(count);
  if (input_.requires_more(*this)) return run_steps();
  connection_handoff::deliver(*this);
}

void connection_core::on_receive_end(error_code reason) noexcept {
  reason = reason_of_end(*this, reason);
  if (reason) {
    // The handler gets all that had arrived before the end, in every model.
    if (is_closing() || !has_undelivered_input(*this)) return fail(reason);
    loop_flags_.input.was_reset = true;
    stop_sending(reason);
  } else if (enabled_.urgent && !is_lingering()) {
    if (const bytes last = filter_urgent({}, true); !last.empty()) take_in(last);
  }
  if (has_ended()) return;
  loop_flags_.input.peer_ended = true;
  if (is_lingering()) return fail({});
  if (!baton_is_out()) run_steps();
}

void connection_core::absorb_pending() noexcept try {
  fail_if(input_.absorb_pending(*this));
} catch (const std::bad_alloc&) {
  out_of_memory();
}

void connection_core::keep_unread(bytes unused) noexcept try {
  input_.append(*this, unused);
} catch (const std::exception&) {
  out_of_memory();
}

callback_scope connection_core::calling(callback what, const char* type) const noexcept {
  if (constants_.is_watched) host_.watchdog->watch_this_thread();
  return callback_scope(what, &id_, type ? type : handler_type());
}

void connection_core::report_exception() const noexcept {
  if (!host_.log) return;
  try {
    const std::string peer = this->peer();
    try {
      throw;
    } catch (const std::exception& e) {
      report(host_.log,
             {severity::warning, std::string("a handler threw an exception: ") + e.what(), errc::handler_threw, peer});
    } catch (...) {
      report(host_.log, {severity::warning, "a handler threw an exception that is not a std::exception",
                         errc::handler_threw, peer});
    }
  } catch (const std::bad_alloc&) {  // no memory left to log
  }
}

// ---- Output ---------------------------------------------------------------------------------------------------------

bool connection_core::is_full() const noexcept {
  return baton_flags_.output.quantum_used || output_.written() > fair_tasks::quantum ||
         output_.is_above_watermark(*this) || (is_on_loop() && !loop_.fair_work().has_quota());
}

// Returns false if nothing may leave now: on another thread, or under a cork.
bool connection_core::send_early(counter& reason) noexcept {
  if (!loop_.in_this_thread() || has_ended() || !output_.may_send_early(*this)) return false;
  if (baton_flags_.handoff.timed && constants_.keeps_baton) batch_.progressed = true;
  fail_if(output_.send_early(*this, reason));
  return true;
}

void connection_core::has_written() noexcept {
  if (output_.written() < fair_tasks::quantum || !send_early(loop_.counters().sends_full)) return;
  loop_flags_.output.partial_message = true;
  baton_flags_.output.quantum_used = true;
  loop_.fair_work().count_written(fair_tasks::quantum);
}

void connection_core::keep_sending(engine::send_result sent) noexcept { fail_if(output_.keep_sending(*this, sent)); }

// A send that waits for the peer ends when the loop must look at the peer's progress.
duration connection_core::longest_send() const noexcept {
  return connection_deadlines::pause_between_looks(applied_limits());
}

void connection_core::on_sendable() noexcept {
  look_at_output(*this);
  fail_if(output_.send_queue(*this, loop_.counters().sends_resumed));
  if (!has_ended() && !baton_is_out()) run_steps();
}

void connection_core::turn_ends() noexcept {
  extras_->end.is_scheduled = false;
  const bool failed = has_ended() || loop_flags_.output.send_failed;
  connection_output::call_notices(*this, failed ? why_not_sent() : error_code());
  const bool sends = std::exchange(extras_->end.sends, false);
  if (has_ended() || !(sends || extras_->migrates_to)) return;
  if (sends) fail_if(output_.send_queue(*this, loop_.counters().sends_outside));
  if (!has_ended() && !baton_is_out()) run_steps();
}

// The handler's output had exceeded the high watermark or its quantum. Other tasks have run since.
void connection_core::continue_writing() noexcept {
  if (has_ended() || baton_is_out()) return;
  if (!waits_for_room() || is_closing() || output_.queue_size() > applied_limits().low_watermark) return run_steps();
  // A callback gets the input again that it left when it stopped. A coroutine still reads it.
  if (!constants_.keeps_baton) has_unseen_ = has_unseen_ || baton_flags_.input.has_unread;
  baton_flags_.input.yields = false;
  if (!baton_flags_.handoff.wants_writable) return run_steps();
  baton_flags_.handoff.wants_writable = false;
  loop_flags_.handoff.counts_as_writer = !constants_.runs_here;
  if (loop_flags_.handoff.counts_as_writer) loop_.fair_work().count_handed_off();
  connection_handoff::hand_off(*this, &connection_handoff::writable);
}

// ---- From outside ---------------------------------------------------------------------------------------------------

// A message that needs the baton waits for it. Any other waits only for the end of a message being written, so that
// outside bytes never split it. A close that waits for the baton comes after the messages before it, and drops those
// after it: else a stream of messages could delay it for ever.
void connection_core::take(std::unique_ptr<connection_message> message) noexcept {
  const bool at_once = !message->needs_baton_ && takes_bytes_now();
  if (has_ended()) return;
  if (is_lingering() || loop_flags_.handoff.close_asked || (!baton_is_out() && is_closing()))
    return at_once ? void() : host_.registry.release(id_, message->cost_);
  if (at_once) return message->run(as_connection());
  if (!make_extras()) return out_of_memory();
  extras_->messages.push(std::move(message));
  loop_flags_.handoff.has_messages = true;
  if (!baton_is_out()) run_steps();
}

void connection_core::send_from_outside(const shared_bytes& data) noexcept {
  fail_if(output_.send_message(*this, data));
}

void connection_core::close_from_outside() noexcept {
  loop_flags_.handoff.close_asked = true;  // facts() lets the messages before it run first
  if (!baton_is_out()) run_steps();
}

void connection_core::abort_from_outside() noexcept { interrupt_and_fail(*this, cancel_reason::aborted); }

void connection_core::abort() noexcept { interrupt_and_fail(*this, cancel_reason::stopped); }

void connection_core::throttle(int change) noexcept {
  if (has_ended() || is_lingering()) return;
  if (!make_extras()) return out_of_memory();
  connection_input::throttle(*this, change);
  if (!baton_is_out()) return run_steps();
  fail_if(input_.update_reading(*this, false));  // only the baton's holder may read `paused`
}

// An overloaded loop has not received what arrived meanwhile. A peer that waits for an answer may be silent.
void connection_core::end_if_silent(std::uint32_t looks) noexcept {
  if (has_ended() || is_lingering() || silence_.looks() < looks) return;
  if (baton_is_out() || loop_.io().has_unread(*this)) return silence_.end();
  loop_.counters().evicted.add();
  fail(errc::heartbeat_timeout);
}

// Input that has arrived by now is answered; later input is not.
void connection_core::drain() noexcept {
  if (is_draining() || has_ended() || is_lingering()) return;
  if (!make_extras()) return out_of_memory();
  drain_begun_ = true;
  extras_->at_drain = loop_.io().arrived(*this);
  has_more_to_drain_ = loop_.io().has_more(*this, extras_->at_drain);
  if (!is_closing()) loop_flags_.phase = connection_phase::draining;
  if (baton_is_out()) return;
  baton_flags_.handoff.draining = true;
  run_steps();
}

// ---- Settings and time ----------------------------------------------------------------------------------------------

void connection_core::apply_changes() noexcept {
  baton_flags_.handoff.has_changes = false;
  connection_migration::take_over_request(*this);
  if (!baton_extras_->changed || has_ended()) return;
  const bool was_above = loop_flags_.output.above_watermark;
  if (was_above && !output_.notify_watermark(*this, false)) return out_of_memory();
  own_ = std::move(baton_extras_->changed);
  if (was_above && !output_.notify_watermark(*this, true)) return out_of_memory();
  const bool checks = baton_flags_.checks_writes;  // output already written keeps its slow path
  if (!use_limits()) out_of_memory();
  baton_flags_.checks_writes |= checks;
  if (!has_ended()) fail_if(output_.watch_watermarks(*this));  // they may have changed
}

bool connection_core::use_limits() noexcept {
  const connection_limits& l = applied_limits();
  output_.classify_writes(*this);
  baton_flags_.handoff.timed = l.timed();
  if (!l.timed()) {
    if (extras_ && !loop_flags_.output.send_failed) extras_->deadlines.reset();
    return true;
  }
  if (deadlines()) return true;
  if (!make_deadlines()) return false;
  look_at_output(*this);
  if (const std::size_t before = input_.size(); before > 0) extras_->deadlines->received(before, loop_.now());
  return true;
}

// A deadline ends the connection only if it has still expired after one more look by the loop. By then the loop has
// received all input that had arrived, and offered output again. A send that waits for the peer is such a look.
void connection_core::expired() noexcept {
  if (is_lingering()) return fail({});
  connection_deadlines* const d = deadlines();
  if (!d) return;
  look_at_output(*this);
  const time_point now = loop_.now();
  const auto output = d->of_output(applied_limits(), !baton_is_out());
  const auto input = d->of_input(applied_limits(), !baton_is_out());
  if (std::min(output, input).when > now) return watch_time();
  const bool output_is_due = output.when <= now;
  if (output_is_due && d->confirm_output(output, now)) return fail(output.why);
  if (input.when <= now && is_confirmed(*this, *d, input)) return fail(input.why);
  d->catch_up(loop_.dispatched_at(), now);
  loop_.start(*extras_, {});
  if (output_is_due) on_sendable();
}

}  // namespace quintet::detail
