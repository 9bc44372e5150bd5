// SPDX-License-Identifier: BSL-1.0
// connection_handoff: runs batches and returns their output to the loop. Off the fast path, this file is where most
// batches spend their time (benchmarks/budget).
#include "connection_handoff.hpp"

#include "../loop/loop_log.hpp"
#include "../loop/post_batch.hpp"
#include "../watch/activity.hpp"
#include "../watch/stall_watchdog.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "connection_migration.hpp"
#include "connection_securing.hpp"

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace quintet::detail {
namespace {

connection_core& with_baton(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.guard_.enter();
  return c;
}

// Stops the peer's clocks until the baton is returned. Only input, or a coroutine's output, is progress of its message.
[[gnu::noinline]] void hold_deadlines(connection_core& c, bool is_input) noexcept {
  if (connection_deadlines* const d = c.deadlines()) d->hold(true, c.loop_.now());
  c.note_progress(is_input && !c.constants_.keeps_baton);
}

}  // namespace

// ---- Out ------------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void connection_handoff::prepare(connection_core& c, bool is_input) noexcept {
  c.loop_flags(key()).baton_out = true;
  if (c.is_timed_ || c.loop_flags().output.send_failed) [[unlikely]]
    hold_deadlines(c, is_input);
  if (!c.output_.prepare_to_hand_off(c)) [[unlikely]]
    c.out_of_memory();
}

void connection_handoff::begin_handshake(connection_core& c) noexcept {
  c.loop_flags(key()).baton_out = true;
  hold_deadlines(c, false);
}

// A model that always runs work inline is not asked.
[[gnu::always_inline]] inline void connection_handoff::run_or_dispatch(connection_core& c, work_item::function step,
                                                                       work_facts about) noexcept {
  prepare(c, about.is_measured);
  if (c.constants_.runs_here) return step(c);
  c.become(step);
  c.set_facts(about);
  c.dispatch(c);
}

void connection_handoff::dispatch_step(connection_core& c, work_item::function step) noexcept {
  run_or_dispatch(c, step, {});
}

void connection_handoff::deliver(connection_core& c) noexcept {
  if (c.enabled_.classify && !connection_migration::classify(c)) [[unlikely]]
    return;
  c.loop_.counters().batches.add();
  connection_input::begin_batch(c);
  run_or_dispatch(c, &connection_handoff::batch, {.is_measured = true, .can_shed = c.enabled_.overload});
}

// Without memory for the input, the batch does not run: returning the baton is all that is left to do.
void connection_handoff::on_handoff(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (c.is_measured()) connection_output::leave(c);  // a batch
  const end_reason why = c.input_.keep_lent(c);
  if (!why) return;
  c.fail_if(why);
  c.become([](work_item& lost) noexcept { give_back(with_baton(lost)); });
}

// ---- At the handler -------------------------------------------------------------------------------------------------

// The thread model decides what the cost means.
[[gnu::always_inline]] inline void connection_handoff::run_guarded_batch(connection_core& c) noexcept {
  const auto run = [&c] {
    const bytes input = c.input_.batch(c);
    c.input_.use(c, input, c.is_expired() ? c.run_overload(input) : c.run_batch(input));
  };
  if (c.heard_.is_abandoned()) [[unlikely]]
    return skip_batch(c);
  if (c.constants_.runs_here) return guarded(c, run);
  const bool is_on_loop = c.loop_.in_this_thread();
  if (!is_on_loop && c.may_go_unmeasured()) return guarded(c, run);
  const time_point begun = c.loop_.time().now();
  guarded(c, run);
  if (c.is_expired()) return;
  const duration took = c.loop_.time().now() - begun;
  c.note_cost(took);
  if (is_on_loop) c.loop_.note_handler_time(took);
}

// Nobody waits for the answer, so the handler never begins. The batch's input counts as used.
[[gnu::noinline]] void connection_handoff::skip_batch(connection_core& c) noexcept {
  guarded(c, [&c] {
    const bytes input = c.input_.batch(c);
    c.input_.use(c, input, input.size());
  });
  c.baton_flags(key()).was_skipped = true;
}

void connection_handoff::count_skipped(connection_core& c) noexcept {
  c.baton_flags(key()).was_skipped = false;
  c.loop_.counters().skipped.add();
}

[[gnu::noinline]] void connection_handoff::run_watched_batch(connection_core& c) noexcept {
  const callback_scope scope = calling(c, callback::input);
  run_guarded_batch(c);
}

void connection_handoff::batch(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.keeps_baton || c.constants_.is_watched) [[unlikely]] {
    if (c.constants_.keeps_baton) return static_cast<void>(c.run_batch({}));
    run_watched_batch(c);
  } else {
    run_guarded_batch(c);
  }
  give_back(c);
}

void connection_handoff::calls(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  c.baton_flags(key()).has_calls = false;
  std::size_t done = 0;
  while (const std::unique_ptr<connection_message> message = c.baton_extras_->calls.pop()) {
    done += message->cost_;
    if (c.baton_flags().handoff.handler_failed) continue;  // an earlier one has thrown, which closes the connection
    guarded(c, [&] {
      const callback_scope scope = calling(c, callback::message);
      message->run(c.as_connection());
    });
  }
  c.host_.registry.release(c.id_, done);
  c.note_progress(false);  // a call is no progress of the peer's messages
  give_back(c);
}

// The scope ends before the baton is returned: the connection may be destroyed then.
template <callback What, void (session_interface::*Run)()>
void connection_handoff::call(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.keeps_baton) return (c.*Run)();
  guarded(c, [&] {
    const callback_scope scope = calling(c, What);
    (c.*Run)();
  });
  if constexpr (What == callback::on_writable)
    give_back(c, c.constants_.runs_here ? &returned : &returned_writable);
  else
    give_back(c);
}
const work_item::function connection_handoff::open = &call<callback::on_open, &session_interface::run_open>;
const work_item::function connection_handoff::read_eof = &call<callback::on_read_eof, &session_interface::run_read_eof>;
const work_item::function connection_handoff::drain = &call<callback::on_drain, &session_interface::run_drain>;

// A quantum that other threads run delays the loop's other writers until it has begun.
void connection_handoff::writable(work_item& item) noexcept {
  const connection_core& c = static_cast<connection_core&>(item);
  if (!c.constants_.runs_here) c.loop_.fair_work().count_started();
  call<callback::on_writable, &session_interface::run_writable>(item);
}

void connection_handoff::limit(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  guarded(c, [&] {
    const callback_scope scope = calling(c, callback::on_limit);
    c.run_limit(c.baton_extras_->close_reason);
  });
  give_back(c);
}

void connection_handoff::close(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  const bool is_told = c.enabled_.close;
  if (is_told) {
    const callback_scope scope = calling(c, callback::on_close);
    c.run_close(c.reason());
  }
  if (!is_told || !c.constants_.keeps_baton) c.close_is_done();  // a coroutine says so itself
}

// ---- The handler's exceptions, and what the watchdog sees -----------------------------------------------------------

callback_scope connection_handoff::calling(const connection_core& c, callback what, const char* type) noexcept {
  if (c.constants_.is_watched) c.host_.watchdog->watch_this_thread();
  return callback_scope(what, &c.id_, type ? type : c.handler_type());
}

void connection_handoff::note_exception(connection_core& c) noexcept {
  report_exception(c);
  fail_handler(c);
}

void connection_handoff::report_exception(const connection_core& c) noexcept {
  if (!c.host_.log) return;
  try {
    detail::report_exception(c.host_.log, "a handler", c.peer());
  } catch (const std::bad_alloc&) {  // no memory left to log
  }
}

bool connection_handoff::take_failure(connection_core& c) noexcept {
  if (!c.baton_flags().handoff.handler_failed) return false;
  c.baton_flags(key()).handler_failed = false;
  c.loop_.counters().handler_errors.add();
  return true;
}

// ---- Back -----------------------------------------------------------------------------------------------------------

void connection_handoff::give_back(connection_core& c, work_item::function back) noexcept {
  c.guard_.leave();
  if (c.constants_.runs_here) return returned(c);
  c.become(back);
  if (c.loop_.in_this_thread())
    back(c);
  else
    post_batch::post(c.loop_, c);
}

void connection_handoff::returned_writable(work_item& item) noexcept {
  static_cast<connection_core&>(item).loop_.fair_work().count_finished();
  returned(item);
}

// The input's charge may end the connection: while the baton is out, that leaves the rest to run_slow_return().
void connection_handoff::returned(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.loop_.invalidate_now();  // the handler may have taken long
  c.fail_if(c.input_.end_batch(c));
  c.loop_flags(key()).baton_out = false;
  connection_output::end_quantum(c);
  if (c.is_idle({.slow_path = true})) {
    if (c.is_timed_) [[unlikely]]
      c.rest();
    c.fail_if(c.output_.send_built(c));
    if (c.is_timed_) [[unlikely]]
      c.active_at_ = c.loop_.now();  // a send may have waited
    return;
  }
  run_slow_return(c);
}

void connection_handoff::run_slow_return(connection_core& c) noexcept {
  c.loop_flags(key()).baton_out = c.loop_flags(key()).was_cancelled = false;
  c.heard_.end_request(c.constants_.keeps_baton);
  if (c.baton_flags().handoff.was_skipped) count_skipped(c);
  connection_output::end_quantum(c);
  const bool threw = take_failure(c);
  if (c.has_ended()) return c.begin_to_close();
  if (threw) return c.fail(errc::handler_threw);
  if (c.baton_flags().output.overflowed) return c.fail(errc::output_overflow);
  if (connection_output::exceeds_futile_writes(c)) return c.fail(c.reason());
  connection_output::end_message(c);
  const bool may_keep_more = c.baton_flags().core.has_changes;
  c.end_batch();
  if (c.has_ended()) return;
  end_reason why = may_keep_more ? c.input_.charge(c) : end_reason();  // the next batch may be handed off at once
  if (!why && c.input_.is_refused(c)) why = errc::message_too_big;
  c.fail_if(why);
  c.run_steps();
}

// Runs after the connection's turn-end work: an item from the inbox may arrive before that has run.
void connection_handoff::destroy(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (connection_output::is_at_turn_end(c)) return c.loop_.defer(item);
  connection_output::call_all_notices(c, c.why_not_sent());
  if (c.baton_extras_ && c.baton_extras_->key != cancel_key()) c.host_.registry.forget_key(c.baton_extras_->key);
  // on_close may have written, or thrown.
  c.output_.drop_builder(c);
  take_failure(c);
  c.loop_.counters().count_closed(c.reason(), c.baton_flags().core.draining);
  c.destroy();
}

// ---- Messages -------------------------------------------------------------------------------------------------------

void connection_handoff::take(connection_core& c, std::unique_ptr<connection_message> message) noexcept {
  const bool at_once = !message->needs_baton_ && c.takes_bytes_now();
  if (c.has_ended()) return;
  if (c.is_lingering() || c.loop_flags().handoff.close_asked || (!c.baton_is_out() && c.is_closing()))
    return at_once ? void() : c.host_.registry.release(c.id_, message->cost_);
  if (at_once) return message->run(c.as_connection());
  if (!c.make_extras()) return c.out_of_memory();
  c.extras_->messages.push(std::move(message));
  c.loop_flags(key()).has_messages = true;
  if (!c.baton_is_out()) return c.run_steps();
  if (connection_securing::is_in_progress(c)) connection_securing::message_waits(c);
}

void connection_handoff::sort_messages(connection_core& c) noexcept {
  c.loop_flags(key()).has_messages = false;
  std::size_t done = 0;
  while (!c.has_ended()) {
    std::unique_ptr<connection_message> message = c.extras_->messages.pop();
    if (!message) break;
    const bool is_dropped = c.loop_flags().handoff.close_asked;  // behind a close
    if (message->needs_baton_ && !is_dropped) {
      if (!c.make_baton_extras()) return c.out_of_memory();
      c.baton_extras_->calls.push(std::move(message));
      c.baton_flags(key()).has_calls = true;
      continue;
    }
    done += message->cost_;
    if (!is_dropped) message->run(c.as_connection());
  }
  if (done > 0) c.host_.registry.release(c.id_, done);
}

void connection_handoff::ask_to_close(connection_core& c) noexcept {
  c.loop_flags(key()).close_asked = true;  // must_close() lets the messages before it run first
  if (!c.baton_is_out()) c.run_steps();
}

}  // namespace quintet::detail
