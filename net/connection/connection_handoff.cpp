// SPDX-License-Identifier: BSL-1.0
// connection_handoff: runs batches and returns their output to the loop. Off the fast path, this file is where most
// batches spend their time (benchmarks/budget).
#include "connection_handoff.hpp"

#include "../loop/post_batch.hpp"
#include "../watch/activity.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "connection_migration.hpp"

#include <memory>
#include <utility>

namespace quintet::detail {
namespace {

connection_core& with_baton(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.guard_.enter();
  return c;
}

// The scope ends before the baton is returned: the connection may be destroyed then.
void call_guarded(connection_core& c, callback what, void (session_interface::*run)()) noexcept {
  c.guarded([&] {
    const callback_scope scope = c.calling(what);
    (c.*run)();
  });
}

// Stops the peer's clocks until the baton is returned.
[[gnu::noinline]] void hold_deadlines(connection_core& c) noexcept {
  if (connection_deadlines* const d = c.deadlines()) d->hold(true, c.loop_.now());
}

/// Returns whether the handler needs more input than it may have. Input that it has not seen does not count.
bool has_refused_too_much(const connection_core& c) noexcept {
  return c.input_.withheld(c) == 0 && c.input_.unread() > c.applied_limits().max_input;
}

/// Returns why the returned batch ends its connection, or nothing.
end_reason find_failure(const connection_core& c, bool threw) noexcept {
  if (c.batch_.lost) return no_memory();
  if (threw) return errc::handler_threw;
  if (c.baton_flags_.output.overflowed) return errc::output_overflow;
  return {};
}

// After a failed send a handler may finish a long reply, so that it comes to the next input. One that writes on, batch
// after batch without input between them, ends here.
constexpr unsigned most_futile_quanta = 1024;

bool writes_in_vain(const connection_core& c) noexcept {
  if (!c.loop_flags_.output.send_failed) return false;
  unsigned& count = c.extras_->futile_quanta;
  count = c.baton_flags_.handoff.wants_writable ? count + 1 : 0;
  return count > most_futile_quanta;
}

}  // namespace

// ---- Out ------------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void connection_handoff::prepare(connection_core& c) noexcept {
  c.loop_flags_.handoff.baton_out = true;
  if (c.baton_flags_.handoff.timed) [[unlikely]]
    hold_deadlines(c);
  if (!c.output_.prepare_to_hand_off(c)) [[unlikely]]
    c.out_of_memory();
}

// A model that always runs work inline is not asked.
[[gnu::always_inline]] inline void connection_handoff::run_or_dispatch(connection_core& c, work_item::function step,
                                                                       work_facts about) noexcept {
  prepare(c);
  if (c.constants_.runs_here) return step(c);
  c.become(step);
  c.set_facts(about);
  c.dispatch(c);
}

void connection_handoff::hand_off(connection_core& c, work_item::function step) noexcept {
  run_or_dispatch(c, step, {});
}

void connection_handoff::deliver(connection_core& c) noexcept {
  if (c.enabled_.classify && !connection_migration::classify(c)) [[unlikely]]
    return;
  c.loop_.counters().batches.add();
  c.baton_flags_.input.requires_more = false;
  run_or_dispatch(c, &connection_handoff::batch, {.is_measured = true, .can_shed = c.enabled_.overload});
}

void connection_handoff::on_handoff(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (c.is_measured()) {  // a batch
    // The batch's output is unknown. A batch late in the turn may have to wait before it writes much.
    c.baton_flags_.output.quantum_used = !c.loop_.fair_work().has_quota();
    c.loop_.fair_work().count_written(fair_tasks::quantum / 4);
  }
  if (!c.input_.keep_lent(c)) c.become(&connection_handoff::lost_batch);
}

// ---- At the handler -------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void connection_handoff::run_guarded(connection_core& c) noexcept {
  c.guarded([&c] {
    const bytes input = c.input_.batch(c);
    c.input_.use(c, input, c.is_expired() ? c.run_overload(input) : c.run_batch(input));
  });
}

[[gnu::always_inline]] inline void connection_handoff::run_guarded_batch(connection_core& c) noexcept {
  if (c.constants_.runs_here) return run_guarded(c);
  const time_point begun = c.loop_.time().now();
  run_guarded(c);
  if (!c.is_expired()) note_batch_cost(c, c.loop_.time().now() - begun);
}

[[gnu::noinline]] void connection_handoff::run_watched_batch(connection_core& c) noexcept {
  const callback_scope scope = c.calling(callback::input);
  run_guarded_batch(c);
}

// [baton] Runs on the batch's thread. The thread model decides what the cost means.
void connection_handoff::note_batch_cost(connection_core& c, duration took) noexcept {
  c.note_cost(took);
  if (c.loop_.in_this_thread()) c.loop_.note_handler_time(took);
}

void connection_handoff::open(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.keeps_baton) return c.run_open();
  call_guarded(c, callback::on_open, &session_interface::run_open);
  give_back(c);
}

void connection_handoff::batch(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.keeps_baton || c.constants_.is_watched) [[unlikely]] {
    if (c.constants_.keeps_baton) return static_cast<void>(c.run_batch({}));
    run_watched_batch(c);
  } else {
    run_guarded_batch(c);
  }
  c.batch_.input_is_lent = false;
  give_back(c);
}

void connection_handoff::lost_batch(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  c.batch_.lost = true;
  c.batch_.input_is_lent = false;
  c.fail_handler();
  give_back(c);
}

void connection_handoff::calls(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  c.baton_flags_.handoff.has_calls = false;
  std::size_t done = 0;
  while (const std::unique_ptr<connection_message> message = c.baton_extras_->calls.pop()) {
    done += message->cost_;
    if (c.baton_flags_.handoff.handler_failed) continue;  // an earlier one has thrown, which closes the connection
    c.guarded([&] {
      const callback_scope scope = c.calling(callback::message);
      message->run(c.as_connection());
    });
  }
  c.host_.registry.release(c.id_, done);
  c.batch_.progressed = false;  // a call is no progress of the peer's messages
  give_back(c);
}

void connection_handoff::writable(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (!c.constants_.runs_here) c.loop_.fair_work().count_started();
  if (c.constants_.keeps_baton) return c.run_writable();
  call_guarded(c, callback::on_writable, &session_interface::run_writable);
  give_back(c);
}

void connection_handoff::read_eof(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  call_guarded(c, callback::on_read_eof, &session_interface::run_read_eof);
  give_back(c);
}

void connection_handoff::drain(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  call_guarded(c, callback::on_drain, &session_interface::run_drain);
  give_back(c);
}

void connection_handoff::close(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.is_open_) {
    const callback_scope scope = c.calling(callback::on_close);
    c.run_close(c.reason());
  }
  if (!c.is_open_ || !c.constants_.keeps_baton) c.close_is_done();
}

// ---- Back -----------------------------------------------------------------------------------------------------------

void connection_handoff::give_back(connection_core& c) noexcept {
  c.guard_.leave();
  if (c.constants_.runs_here) return returned(c);
  c.become(&connection_handoff::returned);
  if (c.loop_.in_this_thread())
    returned(c);
  else
    post_batch::post(c.loop_, c);
}

void connection_handoff::returned(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.loop_flags_.handoff.baton_out = false;
  c.baton_flags_.output.quantum_used = false;
  if (c.input_.has_storage() && !c.baton_flags_.input.has_unread) {
    c.input_.recycle(c);
    // If the handler reported input of its own, run_slow_return() charges it.
    if (c.extras_ && c.extras_->input_charged > 0 && !c.baton_flags_.handoff.has_changes) [[unlikely]] {
      c.loop_flags_.handoff.baton_out = true;  // so that fail() leaves the rest to run_slow_return()
      c.fail_if(c.input_.charge(c));
      c.loop_flags_.handoff.baton_out = false;
    }
  }
  if (c.is_idle_but_for_slow_path()) return c.fail_if(c.output_.send_built(c));
  run_slow_return(c);
}

void run_slow_return(connection_core& c) noexcept {
  if (c.loop_flags_.handoff.counts_as_writer) c.loop_.fair_work().count_finished();
  c.loop_flags_.handoff.baton_out = c.loop_flags_.handoff.counts_as_writer = false;
  c.baton_flags_.output.quantum_used = false;
  if (c.is_draining()) c.baton_flags_.handoff.draining = true;
  const bool threw = c.baton_flags_.handoff.handler_failed && !c.batch_.lost;
  c.baton_flags_.handoff.handler_failed = false;
  if (threw) c.loop_.counters().handler_errors.add();
  if (c.has_ended()) return c.begin_to_close();
  if (const end_reason why = find_failure(c, threw)) return c.fail(why.code());
  if (writes_in_vain(c)) return c.fail(c.reason());
  c.loop_flags_.output.partial_message = false;
  const bool may_keep_more = c.baton_flags_.handoff.has_changes;
  connection_handoff::end_of_batch(c);
  if (c.has_ended()) return;
  if (may_keep_more) c.fail_if(c.input_.charge(c));  // the next batch may be handed off at once
  if (c.has_ended()) return;
  if (has_refused_too_much(c)) return c.fail(errc::message_too_big);
  c.run_steps();
}

// Counters belong to the loop, which a handler in a pool may not touch.
void connection_handoff::count_events(connection_core& c) noexcept {
  if (!c.baton_flags_.output.has_counts) return;
  c.baton_flags_.output.has_counts = false;
  connection_baton_extras& extras = *c.baton_extras_;
  c.loop_.counters().dropped.add(std::exchange(extras.dropped, 0));
  c.loop_.counters().checksum_errors.add(std::exchange(extras.checksum_errors, 0));
}

void connection_handoff::end_of_batch(connection_core& c) noexcept {
  if (c.baton_flags_.handoff.has_changes) c.apply_changes();
  if (c.has_ended()) return;  // on_close may be running on another thread
  count_events(c);
  if (connection_deadlines* const d = c.deadlines())
    d->batch_ended({.progressed = c.batch_.progressed,
                    .incomplete = c.batch_.incomplete,
                    .is_new_message = c.batch_.is_new_message,
                    .unused = c.input_.size()},
                   c.loop_.now());
  c.batch_.progressed = c.batch_.incomplete = c.batch_.is_new_message = false;
  c.fail_if(c.output_.send_built(c));
}

// Runs after the connection's turn-end work: an item from the inbox may arrive before that has run.
void connection_handoff::destroy(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (c.extras_ && c.extras_->end.is_scheduled) return c.loop_.defer(item);
  connection_output::call_all_notices(c, c.why_not_sent());
  // on_close may have written, or thrown.
  c.output_.drop_builder(c);
  if (c.baton_flags_.handoff.handler_failed) c.loop_.counters().handler_errors.add();
  c.loop_.counters().closed.add();
  c.destroy();
}

}  // namespace quintet::detail
