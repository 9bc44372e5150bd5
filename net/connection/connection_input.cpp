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
void connection_input::keep_rest(context& c, bytes unused) { append(c, unused); }

std::size_t connection_input::required_of_extras(const context& c) noexcept { return c.baton_extras_->required; }

void connection_input::require(context& c, std::size_t size) noexcept {
  const std::size_t most = c.applied_limits().max_input;
  c.baton_flags_.input.requires_more = c.make_baton_extras();
  if (c.baton_flags_.input.requires_more) c.baton_extras_->required = size > most ? most + 1 : size;
}

bool connection_input::count_kept(context& c, std::size_t size) noexcept {
  const std::size_t now = charge_for(size);
  if (now == (c.baton_extras_ ? c.baton_extras_->kept : 0)) return true;
  if (!c.make_baton_extras()) return false;
  c.baton_extras_->kept = now;
  c.baton_flags_.handoff.has_changes = true;
  return true;
}

bool connection_input::keep_lent(context& c) noexcept try {
  if (!c.batch_.input_is_lent) return true;
  c.batch_.input_is_lent = false;
  c.loop_.buffers().allocate(unread_);
  unread_.append(c.loop_.lent_input());
  c.baton_flags_.input.has_unread = true;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// ---- Pending --------------------------------------------------------------------------------------------------------

end_reason connection_input::append_pending(context& c, bytes arrived) {
  c.loop_.buffers().allocate(pending_);
  pending_.append(arrived);
  c.loop_flags_.input.has_pending = true;
  return pending_.size() + withheld(c) >= waiting_limit ? set_reading(c, false) : end_reason();
}

void connection_input::drop_pending(context& c) noexcept {
  pending_.clear();
  c.loop_flags_.input.has_pending = false;
}

// A callback gets all input at once, so only input that it has left before keeps the engine from reading. A coroutine
// may use one message of it, and then wait for something else.
end_reason connection_input::absorb_pending(context& c) {
  const std::size_t left = withheld(c);
  c.loop_flags_.input.has_pending = false;
  if (unread_.empty()) {
    unread_.swap(pending_);
  } else {
    append(c, pending_.data());
    pending_.clear();
  }
  c.loop_.buffers().recycle(pending_);
  return set_reading(c,
                     wants_reading(c, c.baton_flags_.input.paused, c.constants_.keeps_baton ? unread_.size() : left));
}

void connection_input::make_pending(context& c) noexcept {
  pending_.swap(unread_);
  c.baton_flags_.input.has_unread = false;
  c.loop_flags_.input.has_pending = true;
}

// ---- Reading --------------------------------------------------------------------------------------------------------

// A coroutine has the baton on its loop; it can wait for anything there, and its unread input stays.
std::size_t connection_input::withheld(const context& c) const noexcept {
  const bool waits = c.baton_is_out() ? c.constants_.keeps_baton : c.has_unseen_ || c.waits_for_room();
  return waits ? unread_.size() : 0;
}

// Resumes at half of the limit, so that a handler that uses a few bytes at a time does not cause a system call each
// time.
bool connection_input::wants_reading(const context& c, bool paused, std::size_t unseen) const noexcept {
  if (c.is_lingering()) return true;
  const std::size_t limit = c.loop_flags_.input.stopped ? waiting_limit / 2 : waiting_limit;
  return !c.loop_flags_.input.throttled && !paused && pending_.size() + unseen < limit;
}

end_reason connection_input::set_reading(context& c, bool on) noexcept {
  if (c.loop_flags_.input.stopped != on || c.loop_flags_.input.peer_ended || c.has_ended()) return {};
  c.loop_flags_.input.stopped = !on;
  return c.loop_.io().set_reading(c, on);
}

void connection_input::throttle(context& c, int change) noexcept {
  c.extras_->throttles += change;
  c.loop_flags_.input.throttled = c.extras_->throttles > 0;
}

// Receives where append() would copy to. Only for a message that has begun: before that, no memory is held for it.
std::span<char> connection_input::receive_space(context& c) {
  const connection_loop_flags& loop = c.loop_flags_;
  if (loop.handoff.baton_out || loop.input.has_pending || loop.phase != connection_phase::serving || c.enabled_.urgent)
    return {};
  if (!c.baton_flags_.input.has_unread || c.holds_input() || !requires_more(c)) return {};
  const std::size_t missing = required(c) - unread_.size();
  unread_.reserve_announced(std::min(missing, worth_its_place), required(c));
  const std::span<char> free = unread_.space();
  return free.first(std::min({free.size(), missing, most_in_place}));
}

void connection_input::offer_space(context& c) noexcept {
  const input_baton_flags& flags = c.baton_flags_.input;
  if (!flags.requires_more || !flags.has_unread) return;
  const std::size_t worth_it = std::min(worth_its_place, c.loop_.options().tuning.receive_size);
  if (required(c) >= unread_.size() + worth_it) c.receive_in_place();
}

// ---- The server's budget --------------------------------------------------------------------------------------------

end_reason connection_input::charge(context& c) noexcept {
  if (c.has_ended()) return {};
  const std::size_t now = charge_for(size() + (c.baton_extras_ ? c.baton_extras_->kept : 0));
  if (now == 0 && (!c.extras_ || c.extras_->input_charged == 0)) return {};
  if (!c.make_extras()) return no_memory();
  const std::size_t before = std::exchange(c.extras_->input_charged, now);
  return c.host_.input.changed(before, now, c.host_.registry.count()) ? end_reason() : errc::input_overflow;
}

void connection_input::release_charge(context& c) noexcept {
  if (c.extras_) c.host_.input.released(std::exchange(c.extras_->input_charged, 0));
}

// ---- Migration ------------------------------------------------------------------------------------------------------

void connection_input::take_from(context& c, connection_input& from, context& before) noexcept {
  unread_.swap(from.unread_);
  pending_.swap(from.pending_);
  c.loop_flags_.input.has_pending = before.loop_flags_.input.has_pending;
  c.baton_flags_.input = before.baton_flags_.input;
}

}  // namespace quintet::detail
