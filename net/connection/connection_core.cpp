// SPDX-License-Identifier: BSL-1.0
// connection_core: handles events of the engine, loop, registry and handler; opens and ends the connection.
#include "connection_core.hpp"

#include "../engine/socket_services.hpp"
#include "../watch/stall_watchdog.hpp"
#include "connection.hpp"
#include "connection_extras.hpp"
#include "connection_handoff.hpp"
#include "connection_migration.hpp"
#include "connection_securing.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

namespace quintet::detail {
namespace {

// What had arrived when the deadline was doubted first has been received, or is not read.
bool is_confirmed(connection_core& c, connection_deadlines& d, const connection_deadlines::deadline& due) noexcept {
  engine& io = c.loop_.io();
  const bool again = d.confirm_input(due, c.loop_.now()), stopped = c.loop_flags().input.stopped;
  if (!again) d.at_doubt() = stopped ? arrival() : io.arrived(c);
  return again && (stopped || !io.has_more(c, d.at_doubt()));
}

}  // namespace

connection_core::connection_core(event_loop& loop, connection_host& host, handoff_constants constants, bool migrated)
    : session_interface(loop, host, constants), work_item(connection_handoff::open, &connection_handoff::on_handoff) {
  connection_handoff::choose_path(*this);
  if (!migrated) loop_.join(*this);
}

connection_core::~connection_core() {
  if (is_linked()) loop_.leave(*this);
  output_.release(*this);
}

connection& connection_core::as_connection() noexcept { return static_cast<connection&>(*this); }

error_code connection_core::open(stream_handle&& stream, enabled_callbacks enabled) noexcept {
  if (loop_.stopping()) return errc::stopped;
  if (!use_limits() || !keep_facts_of(stream)) return no_memory();
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
  if (constants_.is_watched) host_.watchdog->watch_this_thread();
  enabled_.open = false;
  if (enabled.open) connection_handoff::dispatch_step(*this, connection_handoff::open);
  watch_time();
  if (draining) drain();
  return {};
}

// ---- Input ----------------------------------------------------------------------------------------------------------

// Both are inlined into on_received(): else a batch for a pool takes 25 instructions more (benchmarks/budget/check), as
// g++ calls them by itself. gnu::flatten does it too, but with -flto it inlines all that can be reached, for an hour.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"  // others call them as well, so they are not declared inline
[[gnu::always_inline, gnu::visibility("hidden")]] bool connection_core::accepts(std::size_t arrived) noexcept {
  note_received(arrived);
  if (is_lingering()) return false;
  if (is_draining() && !connection_input::takes_while_draining(*this, arrived)) return false;
  if (connection_deadlines* const d = deadlines()) d->received(arrived, loop_.now());
  return true;
}

[[gnu::always_inline, gnu::visibility("hidden")]] void connection_core::take_in(bytes arrived) noexcept {
  if (!is_idle({.slow_path = true})) [[unlikely]] {
    if (baton_is_out() || loop_flags().input.has_pending || holds_input()) {  // so that it overtakes nothing
      if (connection_securing::is_in_progress(*this)) return connection_securing::received(*this, arrived);
      fail_if(input_.append_pending(*this, arrived));
      if (!baton_is_out() && !holds_input()) run_steps();
      return;
    }
    if (is_closing()) return;  // only the remaining output still matters
  }
  if (const end_reason why = input_.take(*this, arrived)) return fail(why.code());
  if (input_.requires_more(*this)) return run_steps();
  connection_handoff::deliver(*this);
}
#pragma GCC diagnostic pop

void connection_core::on_received(bytes arrived) noexcept {
  if (accepts(arrived.size())) take_in(arrived);
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

void connection_core::on_received_nothing() noexcept {
  if (is_draining() && connection_input::takes_while_draining(*this, 0) && !baton_is_out()) run_steps();
}

// An error of the socket is told once: a send may have had it. EPIPE is a reset after the peer's orderly end.
error_code connection_core::reason_of_end(const error_code& told) const noexcept {
  return !told && loop_flags().output.send_failed && reason_ != EPIPE ? reason() : told;
}

void connection_core::on_receive_end(error_code reason) noexcept {
  if (connection_securing::is_in_progress(*this)) return connection_securing::received_end(*this, reason);
  reason = reason_of_end(reason);
  if (!reason) tell(cancel_reason::peer_finished);
  if (reason) {
    // The handler gets all that had arrived before the end, in every model.
    if (is_closing() || !(baton_is_out() || has_unseen_input())) return fail(reason);
    stop_sending(reason);
  }
  if (has_ended()) return;
  connection_input::note_end(*this, bool(reason));
  if (is_lingering()) return fail({});
  if (!baton_is_out()) run_steps();
}

void connection_core::keep_sending(engine::send_result sent) noexcept { fail_if(output_.keep_sending(*this, sent)); }

// The batch differs from others of the fast path after all, which told the deadlines nothing.
void connection_core::leave_fast_path(bytes arrived, std::size_t used) noexcept {
  loop_.invalidate_now();  // the handler may have taken long
  if (used < arrived.size()) fail_if(input_.append(*this, arrived.substr(used)));
  if (connection_deadlines* const d = deadlines()) d->received(arrived.size(), loop_.now());
  if (!constants_.keeps_baton) note_progress(used > 0);
  connection_handoff::run_slow_return(*this);
}

void connection_core::keep_baton(std::size_t arrived) noexcept {
  if (!loop_flags().handoff.baton_lent) output_.leave_fast_path(*this);  // or lend_baton() has done so
  if (connection_deadlines* const d = deadlines()) {
    d->received(arrived, loop_.now());
    d->hold(true, loop_.now());
  }
}

void connection_core::rest() noexcept {
  extras_->deadlines->rest(loop_.now());
  if (!extras_->pending()) watch_time();
}

// ---- Output ---------------------------------------------------------------------------------------------------------

// A send that waits for the peer ends when the loop must look at the peer's progress, at the deadline, and at the
// timers of what the handler awaits.
duration connection_core::longest_send() const noexcept {
  const connection_limits& limits = applied_limits();
  const connection_deadlines* const d = deadlines();
  const duration of_peer = d ? d->longest_send(limits, loop_.now()) : connection_deadlines::sample_interval(limits);
  const duration longest = std::min(of_peer, std::max(between(loop_.now(), loop_.timers_.next()), duration::zero()));
  loop_.invalidate_now();  // the send may take as long
  return longest;
}

void connection_core::on_sendable() noexcept {
  if (connection_securing::is_in_progress(*this)) return;  // it tries again by itself
  connection_output::sample_progress(*this);
  fail_if(output_.send_queue(*this, loop_.counters().sends_resumed));
  if (!has_ended() && !baton_is_out()) run_steps();
}

void connection_core::turn_ends() noexcept {
  const bool failed = has_ended() || loop_flags().output.send_failed;
  const bool sends = connection_output::turn_ends(*this, failed ? why_not_sent() : error_code());
  const bool has_waited = (!baton_is_out() && baton_flags().input.starts_tls) || connection_migration::is_wanted(*this);
  if (has_ended() || !(sends || has_waited)) return;
  if (sends) fail_if(output_.send_queue(*this, loop_.counters().sends_outside));
  if (!has_ended() && !baton_is_out()) run_steps();
}

// The handler's output had exceeded the high watermark or its quantum. Other tasks have run since.
void connection_core::continue_writing() noexcept {
  if (has_ended() || baton_is_out()) return;
  const bool has_room = output_.queue_size() <= applied_limits().low_watermark;
  if (!waits_for_room() || is_closing() || !(has_room || heard_.is_cancelled())) return run_steps();
  // A callback gets the input again that it left when it stopped. A coroutine still reads it.
  if (!constants_.keeps_baton && baton_flags().input.has_unread) connection_input::note_unseen(*this, true);
  if (!connection_output::end_wait(*this)) return run_steps();
  if (!constants_.runs_here) loop_.fair_work().count_handed_off();
  connection_handoff::dispatch_step(*this, &connection_handoff::writable);
}

// ---- From outside ---------------------------------------------------------------------------------------------------

// A coroutine in a read learns of the end within fail(), and may then begin an operation, which must be cancelled: so
// the reason is told before.
void connection_core::fail_for_good(cancel_reason why) noexcept {
  heard_.tell(why);
  if (has_ended()) return interrupt();
  fail(error_of(why));
}

// A drain does not reach a connection that has ended, whose handler may still work.
void connection_core::abort() noexcept {
  const bool drains = drain_begun_ || (has_ended() && host_.registry.is_draining());
  fail_for_good(drains ? cancel_reason::drain_deadline : cancel_reason::stopped);
}

void connection_core::tell(cancel_reason what) noexcept {
  heard_.tell(what);
  if (heard_.is_cancelled()) interrupt();
}

// By the fair queue: callers may be in the middle of a step.
void connection_core::wake_writer() noexcept {
  if (has_ended() || baton_is_out() || !constants_.keeps_baton || !waits_for_room()) return;
  if (!make_extras()) return out_of_memory();
  if (!static_cast<const fair_task&>(*extras_).is_linked()) loop_.schedule_fair(*extras_);
}

// A request ends when the handler returns the baton.
void connection_core::cancel_request() noexcept {
  if (!has_ended() && connection_handoff::note_cancel(*this)) tell(cancel_reason::cancelled);
}

void connection_core::on_peer_finished() noexcept { tell(cancel_reason::peer_finished); }

void connection_core::throttle(int change) noexcept {
  if (has_ended() || is_lingering()) return;
  if (!make_extras()) return out_of_memory();
  connection_input::throttle(*this, change);
  if (connection_securing::is_in_progress(*this)) return;
  if (!baton_is_out()) return run_steps();
  fail_if(input_.update_reading(*this));
}

// Input that has arrived by now is answered; later input is not.
void connection_core::drain() noexcept {
  if (is_draining() || has_ended() || is_lingering()) return;
  if (!make_extras()) return out_of_memory();
  drain_begun_ = true;
  if (connection_securing::is_in_progress(*this)) {
    own_flags().draining = true;
    return fail(errc::stopped);
  }
  connection_input::begin_drain(*this);
  if (!is_closing()) loop_flags(key()) = connection_phase::draining;
  if (has_baton_here()) own_flags().draining = true;
  tell(cancel_reason::drain);
  if (!baton_is_out()) run_steps();
}

// ---- Settings and time ----------------------------------------------------------------------------------------------

void connection_core::end_batch() noexcept {
  core_baton_flags& flags = own_flags();
  tell_of_drain();
  if (flags.has_changes) apply_changes();
  if (has_ended()) return;  // on_close may be running on another thread
  if (connection_deadlines* const d = deadlines())
    d->batch_ended({.progressed = !flags.stalled,
                    .incomplete = flags.incomplete,
                    .is_new_message = flags.is_new_message,
                    .unused = input_.size()},
                   loop_.now());
  flags.stalled = flags.incomplete = flags.is_new_message = false;
  fail_if(output_.send_built(*this));
}

void connection_core::apply_changes() noexcept {
  own_flags().has_changes = false;
  const batch_counts counted = std::exchange(baton_extras_->counts, {});
  loop_.counters().dropped.add(counted.dropped);
  loop_.counters().checksum_errors.add(counted.checksum_errors);
  connection_migration::take_over_request(*this);
  connection_securing::take_over_request(*this);
  if (has_ended() || !baton_extras_->changed) return;
  const bool was_above = loop_flags().output.above_watermark;
  if (was_above && !output_.notify_watermark(*this, false)) return out_of_memory();
  own_ = std::move(baton_extras_->changed);
  if (was_above && !output_.notify_watermark(*this, true)) return out_of_memory();
  if (!use_limits()) return out_of_memory();
  fail_if(output_.watch_watermarks(*this));  // they may have changed
}

bool connection_core::use_limits() noexcept {
  const connection_limits& l = applied_limits();
  output_.classify_writes(*this, true);
  is_timed_ = own_flags().clock_runs = l.timed();  // that of the first byte, at least
  if (!is_timed_) {
    if (extras_ && !loop_flags().output.send_failed) extras_->deadlines.reset();
    return true;
  }
  if (deadlines()) return true;
  if (!make_deadlines()) return false;
  connection_output::sample_progress(*this);
  if (const std::size_t before = input_.size(); before > 0) extras_->deadlines->received(before, loop_.now());
  return true;
}

// The peer may still read, so the handler writes a last word, once. Then the connection closes as by close(why).
void connection_core::expire(error_code why) noexcept {
  if (!enabled_.limit || baton_is_out() || is_closing() || loop_flags().output.send_failed) return fail(why);
  enabled_.limit = false;
  if (!make_baton_extras()) return out_of_memory();
  baton_extras_->close_reason = why;
  own_flags().has_reason = own_flags().close_requested = true;
  connection_handoff::dispatch_step(*this, &connection_handoff::limit);
}

// A deadline ends the connection only if it has still expired after one more look by the loop. By then the loop has
// received all input that had arrived. It does not offer output in between: the kernel may have room for it, below what
// it reports, although the peer takes nothing.
void connection_core::expired() noexcept {
  if (is_lingering()) return fail({});
  connection_deadlines* const d = deadlines();
  if (!d) return;
  connection_output::sample_progress(*this);
  const time_point now = loop_.now();
  const auto output = d->of_output(applied_limits(), !baton_is_out());
  const auto input = d->of_input(applied_limits(), !baton_is_out());
  if (std::min(output, input).when > now) return watch_time();
  const bool output_over = output.when <= now && d->confirm_output(output, now);
  const bool input_over = input.when <= now && is_confirmed(*this, *d, input);
  if (output_over || input_over)  // of both, after a loop was held up, the earlier is the reason
    return output_over && !(input_over && input < output) ? fail(output.why) : expire(input.why);
  if (!baton_is_out()) own_flags().clock_runs = true;  // what arrives in between counts
  d->catch_up(loop_.dispatched_at(), now);
  loop_.start(*extras_, {});
}

}  // namespace quintet::detail
