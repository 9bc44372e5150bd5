// SPDX-License-Identifier: BSL-1.0
// connection_input: unread and pending input, and whether the engine reads.
#include "connection_input.hpp"

#include "connection_extras.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace quintet::detail {
namespace {

constexpr std::size_t most_in_place = 256 * 1024;   // bytes per receive, so that others have their turn
constexpr std::size_t worth_its_place = 16 * 1024;  // missing bytes that are worth receiving in place
constexpr std::size_t worth_counting = connection_input::waiting_limit;

/// Returns the bytes to charge for `size` bytes.
std::size_t charge_for(std::size_t size) noexcept { return size > worth_counting ? size : 0; }

}  // namespace

// ---- Unread ---------------------------------------------------------------------------------------------------------

// [loop] Lent input has not gone to another thread.
void connection_input::keep_rest(context& c, bytes unused) { keep(c, unused); }

std::size_t connection_input::required_of_extras(const context& c) noexcept { return c.baton_extras_->input.required_; }

void connection_input::require(context& c, std::size_t size) noexcept {
  const std::size_t most = c.applied_limits().max_input;
  const bool noted = c.make_baton_extras();
  c.baton_flags(key()).requires_more = noted;
  if (noted) c.baton_extras_->input.required_ = size > most ? most + 1 : size;
}

bool connection_input::count_kept(context& c, std::size_t size) noexcept {
  const std::size_t now = charge_for(size);
  if (now == 0 && !c.baton_extras_) return true;
  if (!c.make_baton_extras()) return false;
  if (std::exchange(c.baton_extras_->input.kept_, now) != now) c.note_changes();
  return true;
}

end_reason connection_input::keep_lent(context& c) noexcept {
  if (!c.baton_flags().input.is_lent) return {};
  c.baton_flags(key()).is_lent = false;
  return append(c, c.loop_.lent_input());
}

// ---- Pending --------------------------------------------------------------------------------------------------------

end_reason connection_input::append_pending(context& c, bytes arrived) noexcept try {
  c.loop_.buffers().allocate(pending_);
  pending_.append(arrived);
  c.loop_flags(key()).has_pending = true;
  return pending_.size() + withheld(c) >= waiting_limit ? set_reading(c, false) : end_reason();
} catch (const std::exception&) {
  return no_memory();
}

void connection_input::drop_pending(context& c) noexcept {
  pending_.clear();
  c.loop_flags(key()).has_pending = false;
}

// A callback gets all input at once, so only input that it has left before keeps the engine from reading. A coroutine
// may use one message of it, and then wait for something else.
end_reason connection_input::absorb_pending(context& c) noexcept {
  const std::size_t left = withheld(c);
  if (unread_.empty())
    unread_.swap(pending_);
  else if (const end_reason why = append(c, pending_.data()))
    return why;
  c.baton_flags(key()).has_unread = !unread_.empty();
  drop_pending(c);
  c.loop_.buffers().recycle(pending_);
  return set_reading(c, wants_reading(c, c.constants_.keeps_baton ? unread_.size() : left));
}

void connection_input::make_pending(context& c) noexcept {
  pending_.swap(unread_);
  c.baton_flags(key()).has_unread = false;
  c.loop_flags(key()).has_pending = true;
}

// ---- Reading --------------------------------------------------------------------------------------------------------

// Returns the bytes of unread input that the handler can use without more input: it has not seen them, or it stopped
// before them. None while they belong to another thread. A coroutine has the baton on its loop; it can wait for
// anything there, and its unread input stays.
std::size_t connection_input::withheld(const context& c) const noexcept {
  const bool waits =
      c.baton_is_out() ? c.constants_.keeps_baton : c.loop_flags().input.has_unseen || c.waits_for_room();
  return waits ? unread_.size() : 0;
}

// Resumes at half of the limit, so that a handler that uses a few bytes at a time does not cause a system call each
// time.
bool connection_input::wants_reading(const context& c, std::size_t unseen) const noexcept {
  if (c.is_lingering()) return true;
  if (c.loop_flags().input.throttled || (c.has_baton_here() && c.baton_flags().input.paused)) return false;
  return pending_.size() + unseen < (c.loop_flags().input.stopped ? waiting_limit / 2 : waiting_limit);
}

end_reason connection_input::set_reading(context& c, bool on) noexcept {
  input_loop_flags& flags = c.loop_flags(key());
  if (flags.stopped != on || flags.peer_ended || c.has_ended()) return {};
  flags.stopped = !on;
  return c.loop_.io().set_reading(c, on);
}

void connection_input::throttle(context& c, int change) noexcept {
  c.loop_flags(key()).throttled = (c.extras_->input.throttles_ += change) > 0;
}

void connection_input::begin_drain(context& c) noexcept {
  c.extras_->input.at_drain_ = c.loop_.io().arrived(c);
  c.loop_flags(key()).has_more_to_drain = c.loop_.io().has_more(c, c.extras_->input.at_drain_);
}

bool connection_input::takes_while_draining(context& c, std::size_t arrived) noexcept {
  if (!c.loop_flags().input.has_more_to_drain) return false;
  c.extras_->input.at_drain_.delivered += arrived;
  c.loop_flags(key()).has_more_to_drain = c.loop_.io().has_more(c, c.extras_->input.at_drain_);
  return true;
}

// Receives where append() would copy to. Only for a message that has begun: before that, no memory is held for it.
std::span<char> connection_input::receive_space(context& c) {
  const connection_loop_flags& loop = c.loop_flags();
  if (loop.handoff.baton_out || loop.input.has_pending || loop.phase != connection_phase::serving) return {};
  if (unread_.empty() || c.holds_input() || !requires_more(c)) return {};
  const std::size_t missing = required(c) - unread_.size();
  unread_.reserve_announced(std::min(missing, worth_its_place), required(c));
  const std::span<char> free = unread_.space();
  return free.first(std::min({free.size(), missing, most_in_place}));
}

void connection_input::offer_space(context& c) noexcept {
  const std::size_t worth_it = std::min(worth_its_place, c.loop_.options().tuning.receive_size);
  if (!unread_.empty() && required(c) >= unread_.size() + worth_it) c.receive_in_place();
}

// ---- The server's budget --------------------------------------------------------------------------------------------

end_reason connection_input::charge(context& c) noexcept {
  if (c.has_ended()) return {};
  const std::size_t now = charge_for(size() + (c.baton_extras_ ? c.baton_extras_->input.kept_ : 0));
  if (now == 0 && !c.extras_) return {};
  if (!c.make_extras()) return no_memory();
  const std::size_t before = std::exchange(c.extras_->input.charged_, now);
  if (now == before) return {};
  return c.host_.input.changed(before, now, c.host_.registry.count()) ? end_reason() : errc::input_overflow;
}

// If the handler reported input of its own, the end of its batch charges it.
end_reason connection_input::charge_less(context& c) noexcept {
  return c.extras_->input.charged_ > 0 && !c.baton_flags().core.has_changes ? charge(c) : end_reason();
}

void connection_input::release_charge(context& c) noexcept {
  if (c.extras_) c.host_.input.released(std::exchange(c.extras_->input.charged_, 0));
}

// ---- Migration ------------------------------------------------------------------------------------------------------

bool connection_input::is_quiescent(const context& c) noexcept {
  return !c.loop_flags().input.peer_ended && !(c.extras_ && c.extras_->input.throttles_ != 0);
}

void connection_input::take_from(context& c, connection_input& from, context& before) noexcept {
  unread_.swap(from.unread_);
  pending_.swap(from.pending_);
  c.loop_flags(key()).has_pending = before.loop_flags().input.has_pending;
  note_unseen(c, before.loop_flags().input.has_unseen);
  c.baton_flags(key()) = before.baton_flags().input;
  if (std::size_t& charged = before.extras_->input.charged_; charged > 0 && c.make_extras())
    c.extras_->input.charged_ = std::exchange(charged, 0);
}

}  // namespace quintet::detail
