// SPDX-License-Identifier: BSL-1.0
// connection_migration: gives a connection to a new object on another loop, under the same id; chooses classes.
#include "connection_migration.hpp"

#include "../watch/activity.hpp"
#include "../watch/stall_watchdog.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "connection_handoff.hpp"
#include "handler.hpp"

#include <new>
#include <utility>

namespace quintet::detail {

bool connection_migration::request(connection_core& c, event_loop& to) {
  if (&to == &c.loop_ || c.constants_.keeps_baton || !c.constants_.can_move) return false;
  if (!can_detach_connections(c.loop_)) return false;
  c.extras_of_baton().migrates_to = &to;
  c.note_changes();
  return true;
}

void connection_migration::take_over_request(connection_core& c) noexcept {
  event_loop* const to = std::exchange(c.baton_extras_->migrates_to, nullptr);
  if (!to) return;
  if (!c.make_extras()) return c.out_of_memory();
  // The priority loop stays the target once it is.
  if (!is_wanted(c) || c.extras_->migrates_to != c.host_.priority_loop) c.extras_->migrates_to = to;
}

bool connection_migration::is_wanted(const connection_core& c) noexcept { return c.extras_ && c.extras_->migrates_to; }

bool connection_migration::is_possible(const connection_core& c) noexcept {
  if (c.loop_flags().phase != connection_phase::serving || c.baton_flags().core.close_requested) return false;
  return connection_handoff::is_quiescent(c) && connection_input::is_quiescent(c) && connection_output::is_quiescent(c);
}

void connection_migration::run(connection_core& c) noexcept {
  event_loop& to = *c.extras_->migrates_to;
  connection_core* next = nullptr;
  const bool tried = c.host_.registry.transfer_id(c.id_, [&]() noexcept -> connection* {
    next = c.make_migrated(to);
    if (!next) return nullptr;
    c.keep_carried(c.loop_.io().remove(c));
    next->take_from(c);
    next->become(&connection_migration::attach);
    to.post(static_cast<work_item&>(*next));  // before anything that is sent to it from now on
    return &next->as_connection();
  });
  if (!tried) return;
  c.extras_->migrates_to = nullptr;  // also if the target has no room or memory: the connection stays
  if (!next) return;
  connection_input::release_charge(c);
  c.loop_.counters().moved_away.add();
  c.end_without_close();  // nobody uses this object from now on, or is told of an end
  c.become(&connection_migration::destroy_predecessor);
  c.loop_.defer(c);
}

void connection_migration::attach(work_item& item) noexcept {
  auto& c = static_cast<connection_core&>(item);
  c.loop_.join(c);
  c.loop_.counters().moved_here.add();
  stream_handle stream = c.take_stream();
  c.handle_ = stream.get();
  if (const error_code ec = c.loop_.io().add(c, std::move(stream))) {
    c.keep_carried(std::move(stream));  // NOLINT(bugprone-use-after-move): a failure has left it
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
  if (connection_output::is_at_turn_end(c)) return c.loop_.defer(item);
  c.discard();
}

// ---- Classes --------------------------------------------------------------------------------------------------------

// The input stays the connection's own until its class is known.
bool connection_migration::classify(connection_core& c) noexcept {
  const bytes first = c.input_.batch(c);
  connection_class chosen = connection_class::ordinary;
  if (!c.loop_flags().input.peer_ended && !c.is_draining())  // else it stays here, whatever its class
    connection_handoff::guarded(c, [&] {
      const callback_scope scope = connection_handoff::calling(c, callback::input);
      chosen = c.run_classify(first);
    });
  if (connection_handoff::take_failure(c)) {
    c.fail(errc::handler_threw);
    return false;
  }
  const bool is_undecided = chosen == connection_class::undecided && first.size() < most_to_classify;
  c.enabled_.classify = is_undecided;
  if (!is_undecided && chosen != connection_class::priority) return true;
  c.fail_if(c.input_.keep_lent(c));
  if (!is_undecided) move_unseen(c, c.host_.priority_loop);
  c.run_steps();  // a drain may wait for this input, and its time limit begins
  return false;
}

void connection_migration::move_unseen(connection_core& c, event_loop* to) noexcept {
  if (!c.make_extras()) return c.out_of_memory();
  c.input_.make_pending(c);
  c.extras_->migrates_to = to;
}

}  // namespace quintet::detail
