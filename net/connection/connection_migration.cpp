// SPDX-License-Identifier: BSL-1.0
// connection_migration: from one loop to another.
#include "connection_migration.hpp"

#include "../watch/activity.hpp"
#include "../watch/stall_watchdog.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "handler.hpp"

#include <new>
#include <utility>

namespace quintet::detail {

bool connection_migration::request(connection_core& c, event_loop& to) {
  if (&to == &c.loop_ || c.constants_.keeps_baton || !c.constants_.can_move) return false;
  if (!can_detach_connections(c.loop_)) return false;
  c.extras_of_baton().migrates_to = &to;
  c.baton_flags_.handoff.has_changes = true;
  return true;
}

void connection_migration::take_over_request(connection_core& c) noexcept {
  event_loop* const to = std::exchange(c.baton_extras_->migrates_to, nullptr);
  if (!to) return;
  if (!c.make_extras()) return c.out_of_memory();
  // The priority loop stays the target once it is.
  if (!c.extras_->migrates_to || c.extras_->migrates_to != c.host_.priority_loop) c.extras_->migrates_to = to;
}

bool connection_migration::is_possible(const connection_core& c) noexcept {
  if (c.loop_flags_.phase != connection_phase::serving || c.loop_flags_.input.peer_ended) return false;
  if (c.baton_flags_.handoff.close_requested || c.waits_for_room()) return false;
  if (c.baton_flags_.handoff.has_calls || c.extras_->throttles != 0 || !c.output_.is_quiescent(c)) return false;
  return !c.own_ || c.own_->source == connection_id();
}

void connection_migration::run(connection_core& c) noexcept {
  event_loop& to = *c.extras_->migrates_to;
  connection_core* next = nullptr;
  const bool tried = c.host_.registry.transfer_id(c.id_, [&]() noexcept -> connection* {
    next = c.make_migrated(to);
    if (!next) return nullptr;
    c.keep_carried(c.loop_.io().remove(c));
    take_state(*next, c);
    next->become(&connection_migration::attach);
    to.post(static_cast<work_item&>(*next));  // before anything that is sent to it from now on
    return &next->as_connection();
  });
  if (!tried) return;
  c.extras_->migrates_to = nullptr;  // also if the target has no room or memory: the connection stays
  if (!next) return;
  connection_input::release_charge(c);
  c.loop_.counters().moved_away.add();
  c.loop_flags_.phase = connection_phase::ended;  // nobody uses this object from now on, or is told of an end
  c.extras_->cancel();
  c.become(&connection_migration::destroy_predecessor);
  c.loop_.defer(c);
}

// Runs on the old loop; the new object is not in use yet.
void connection_migration::take_state(connection_core& to, connection_core& from) noexcept {
  to.handle_ = std::exchange(from.handle_, -1);
  to.id_ = from.id_;
  to.enabled_ = from.enabled_;
  to.enabled_.classify &= to.host_.priority_loop != &to.loop_;
  to.loop_flags_.handoff.slow_path = to.needs_slow_path();
  to.is_open_ = from.is_open_;
  to.has_unseen_ = from.has_unseen_;
  to.own_ = std::move(from.own_);
  to.take_cost_from(from);
  if (!from.silence_.is_unbroken()) to.silence_.end();
  if ((from.deadlines() || from.extras_->input_charged > 0) && to.make_extras()) {
    to.extras_->deadlines = std::move(from.extras_->deadlines);  // without memory attach() makes others, or fails
    to.extras_->input_charged = std::exchange(from.extras_->input_charged, 0);
  }
  to.baton_extras_ = std::move(from.baton_extras_);
  to.input_.take_from(to, from.input_, from);
}

void connection_migration::attach(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.loop_.join(c);
  c.loop_.counters().moved_here.add();
  stream_handle stream = c.take_stream();
  c.handle_ = stream.get();
  if (const error_code ec = c.loop_.io().add(c, std::move(stream))) {
    c.keep_carried(std::move(stream));
    return c.fail(ec);
  }
  if (c.loop_.stopping()) return c.fail(errc::stopped);
  if (c.constants_.is_watched) c.host_.watchdog->watch_this_thread();
  if (!c.use_limits()) return c.out_of_memory();
  c.watch_time();
  c.run_steps();
}

void connection_migration::destroy_predecessor(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  if (c.extras_->end.is_scheduled) return c.loop_.defer(item);
  c.discard();
}

// ---- Classes --------------------------------------------------------------------------------------------------------

bool connection_migration::classify(connection_core& c) noexcept {
  const bytes first = c.input_.batch(c);
  connection_class chosen = connection_class::ordinary;
  c.guarded([&] {
    const callback_scope scope = c.calling(callback::input);
    chosen = c.run_classify(first);
  });
  if (c.baton_flags_.handoff.handler_failed) {
    c.baton_flags_.handoff.handler_failed = false;
    c.loop_.counters().handler_errors.add();
    c.fail(errc::handler_threw);
    return false;
  }
  const bool enough = first.size() >= most_to_classify;
  if (!c.input_.keep_lent(c)) c.out_of_memory();
  if (c.has_ended()) return false;
  if (chosen == connection_class::undecided && !enough) {
    c.run_steps();  // a drain may wait for this input, and its time limit begins
    return false;
  }
  end_classifying(c);
  if (chosen != connection_class::priority) return true;
  if (!c.make_extras()) {
    c.out_of_memory();
    return false;
  }
  c.input_.make_pending(c);
  c.extras_->migrates_to = c.host_.priority_loop;
  c.run_steps();
  return false;
}

void connection_migration::end_classifying(connection_core& c) noexcept {
  c.enabled_.classify = false;
  c.loop_flags_.handoff.slow_path = c.needs_slow_path();
}

}  // namespace quintet::detail
