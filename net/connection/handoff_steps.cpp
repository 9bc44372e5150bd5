// SPDX-License-Identifier: BSL-1.0
// handoff_steps: what a connection's work item runs, with the baton.
#include "handoff_steps.hpp"

#include "connection.hpp"
#include "connection_core.hpp"

#include <memory>
#include <utility>

namespace quintet::detail {
namespace {

connection_core& with_baton(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.guard_.enter();
  return c;
}

// What it calls is over when the baton is returned, and with it perhaps the connection.
void call_guarded(connection_core& c, callback what, void (session_interface::*run)()) noexcept {
  c.guarded([&] {
    const activity::scope now = c.calling(what);
    (c.*run)();
  });
}

[[gnu::always_inline]] inline void run_guarded_batch(connection_core& c) noexcept {
  const time_point begun = c.constants_.runs_here ? time_point() : c.loop_.time().now();
  c.guarded([&c] {
    const bytes input = c.input_.batch(c);
    c.input_.use(c, input, c.is_too_late() ? c.run_overload(input) : c.run_batch(input));
  });
  if (!c.constants_.runs_here && !c.is_too_late()) c.note_cost(c.loop_.time().now() - begun);
  c.set_hints({});
}

[[gnu::noinline]] void run_watched_batch(connection_core& c) noexcept {
  const activity::scope now = c.calling(callback::input);
  run_guarded_batch(c);
}

}  // namespace

void handoff_steps::prepare(connection_core& c) noexcept {
  c.loop_flags_.handoff.baton_out = true;
  if (c.baton_flags_.handoff.timed) [[unlikely]]
    if (connection_deadlines* const d = c.deadlines()) d->hold(true, c.loop_.now());  // not the peer's time
  if (!c.output_.prepare_slowly(c)) c.out_of_memory();
}

void handoff_steps::on_handoff(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (!c.input_.keep_lent(c)) c.become(&handoff_steps::lost_batch);
}

void handoff_steps::open(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.keeps_baton) return c.run_open();
  call_guarded(c, callback::on_open, &session_interface::run_open);
  c.give_back();
}

void handoff_steps::batch(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.keeps_baton || c.constants_.is_watched) [[unlikely]] {
    if (c.constants_.keeps_baton) return static_cast<void>(c.run_batch({}));
    run_watched_batch(c);
  } else {
    run_guarded_batch(c);
  }
  c.batch_.input_is_lent = false;
  c.give_back();
}

void handoff_steps::lost_batch(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  c.batch_.lost = true;
  c.batch_.input_is_lent = false;
  c.fail_handler();
  c.set_hints({});
  c.give_back();
}

void handoff_steps::calls(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  c.baton_flags_.handoff.has_calls = false;
  std::size_t done = 0;
  while (const std::unique_ptr<connection_message> message = c.baton_extras_->calls.pop()) {
    c.guarded([&] {
      const activity::scope now = c.calling(callback::message);
      message->run(c.as_connection());
    });
    done += message->cost_;
  }
  c.host_.registry.release(c.id_, done);
  c.batch_.progressed = false;  // not of what the peer has sent
  c.give_back();
}

void handoff_steps::writable(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (!c.constants_.runs_here) c.loop_.turn_begins();
  if (c.constants_.keeps_baton) return c.run_writable();
  call_guarded(c, callback::on_writable, &session_interface::run_writable);
  c.give_back();
}

void handoff_steps::read_eof(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  call_guarded(c, callback::on_read_eof, &session_interface::run_read_eof);
  c.give_back();
}

void handoff_steps::drain(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  call_guarded(c, callback::on_drain, &session_interface::run_drain);
  c.give_back();
}

void handoff_steps::close(work_item& item) noexcept {
  connection_core& c = with_baton(item);
  if (c.constants_.is_open) {
    const activity::scope now = c.calling(callback::on_close);
    c.run_close(c.reason());
  }
  if (!c.constants_.is_open || !c.constants_.keeps_baton) c.close_is_done();
}

void handoff_steps::returned(work_item& item) noexcept { static_cast<connection_core&>(item).on_returned(); }

// Behind what is deferred for this connection: when it comes from the inbox, that has not run yet.
void handoff_steps::destroy(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (c.extras_ && c.extras_->end.is_scheduled) return c.loop_.defer(item);
  connection_output::tell_all_notices(c, c.why_not_sent());
  // In on_close it may have written, and thrown.
  if (c.baton_extras_) c.host_.output.released(std::exchange(c.baton_extras_->output_charged, 0));
  if (c.baton_flags_.handoff.handler_failed) c.loop_.counters().handler_errors.add();
  c.loop_.counters().closed.add();
  c.destroy();
}

}  // namespace quintet::detail
