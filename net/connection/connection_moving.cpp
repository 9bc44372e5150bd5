// SPDX-License-Identifier: BSL-1.0
// connection_moving: how a connection goes over to another loop: another object there takes over all that it has.
#include "connection.hpp"

#include "../../base/build/planted_bugs.hpp"
#include "../watch/stall_watchdog.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace quintet {

bool connection::promote() {
  check_held();
  return host_.lane && ask_to_move(*host_.lane);
}

bool connection::move_to(event_loop& to) {
  check_held();
  const auto is_ordinary = [this](event_loop& loop) { return std::ranges::count(host_.loops, &loop) > 0; };
  return is_ordinary(to) && is_ordinary(loop_) && ask_to_move(to);
}

bool connection::ask_to_move(event_loop& to) {
  if (&to == &loop_ || keeps_baton_ || !can_move_) return false;
  if (!loop_.io().lets_go() || loop_.options().own_descriptors) return false;
  extras_of_baton().goes_to = &to;
  baton_.has_changes = true;
  return true;
}

// On the loop, with the baton at home and input that no handler has seen. False: it is not the handler's turn.
bool connection::classify() noexcept {
  const bytes first = input_is_lent_ ? loop_.lent_input() : input_buffer_.data();
  lane chosen = lane::ordinary;
  guarded([&] {
    const activity::scope now = calling(callback::input);
    chosen = run_classify(first);
  });
  if (baton_.handler_failed) {
    baton_.handler_failed = false;
    loop_.counters().handler_errors.add();
    fail(errc::handler_threw);
    return false;
  }
  const bool enough = first.size() >= most_to_classify;
  if (input_is_lent_) keep(first);
  input_is_lent_ = false;
  if (state_.failing) return false;
  if (chosen == lane::undecided && !enough) {
    settle();  // draining may have waited for this input, and its time limit begins
    return false;
  }
  end_classifying();
  if (chosen != lane::priority || !have_extras()) return !state_.failing;
  // As if it had not been looked at yet.
  ahead_.swap(input_buffer_);
  baton_.has_input = false;
  state_.has_ahead = true;
  extras_->goes_to = host_.lane;
  settle();
  return false;
}

void connection::end_classifying() noexcept {
  told_.classify = false;
  state_.takes_detours = always_takes_detours();
}

// On the loop, with the baton at home. What is under way keeps it here: it tries again when that is done.
bool connection::may_move() const noexcept {
  if (state_.sending || state_.above_watermark || state_.receive_ended || state_.drain_asked || state_.shut)
    return false;
  if (baton_.close_wanted || baton_.shutdown_wanted || baton_.wants_writable || baton_.has_calls) return false;
  if (extras_->end.due || extras_->holds != 0 || !extras_->notices.empty()) return false;
  return !own_ || own_->source == connection_id();
}

// Where nothing holds it here. If it stays all the same, it has no other loop to go to any more, or tries again later.
void connection::move_on() noexcept {
  event_loop& to = *extras_->goes_to;
  connection* next = nullptr;
  const bool tried = host_.registry.hand_on(id_, [&]() noexcept {
    next = make_successor(to);
    if (!next) return next;
    loop_.io().remove(*this);
    next->inherit(*this);
    next->become(&connection::arrive);
    to.post(static_cast<work_item&>(*next));  // before anything that is sent to it from now on
    return next;
  });
  if (!tried) return;
  extras_->goes_to = nullptr;  // also when there is no room for it, or no memory: then it stays as it is
  if (!next) return;
  host_.input.released(std::exchange(extras_->input_charged, 0));
  loop_.counters().moved_away.add();
  state_.failing = true;  // of no use to anybody from now on; nobody is told of an end
  extras_->cancel();
  become(&connection::destroy_predecessor);
  loop_.defer(*this);
}

// Runs on the old loop; the successor is at rest.
void connection::inherit(connection& from) noexcept {
  handle_ = std::exchange(from.handle_, -1);
  id_ = from.id_;
  told_ = from.told_;
  told_.classify &= host_.lane != &loop_;
  state_.takes_detours = told_.classify || always_takes_detours();
  begun_ = from.begun_;
  input_buffer_.swap(from.input_buffer_);
  if (!planted(detail::bug::input_is_lost_on_a_move)) ahead_.swap(from.ahead_);
  state_.has_ahead = from.state_.has_ahead;
  baton_.has_input = from.baton_.has_input;
  baton_.pause_wanted = from.baton_.pause_wanted;
  own_ = std::move(from.own_);
  take_cost_from(from);
  if (!from.silence_or_reason_.silence.is_unbroken()) silence_or_reason_.silence.ends();
  if (from.deadlines() || from.extras_->input_charged > 0) extras_.reset(new (std::nothrow) loop_extras(*this));
  if (extras_) {  // else arrive() makes others, or ends the connection
    extras_->deadlines = std::move(from.extras_->deadlines);
    extras_->input_charged = std::exchange(from.extras_->input_charged, 0);
  }
  baton_extras_ = std::move(from.baton_extras_);
  baton_.expects = from.baton_.expects;
}

void connection::arrive(work_item& item) noexcept {
  connection& c = of(item);
  c.loop_.join(c);
  c.loop_.counters().moved_here.add();
  if (const error_code ec = c.loop_.io().add(c, c.handle_)) return c.fail(ec);
  if (c.loop_.stopping()) return c.fail(errc::stopped);
  if (c.is_watched_) c.host_.watchdog->watch_this_thread();
  c.use_limits();
  if (c.state_.failing) return;
  c.watch_time();
  c.settle();
}

void connection::destroy_predecessor(work_item& item) noexcept {
  connection& c = of(item);
  if (c.extras_->end.due) return c.loop_.defer(item);
  c.discard();
}

}  // namespace quintet
