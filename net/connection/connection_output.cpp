// SPDX-License-Identifier: BSL-1.0
// connection_output: from write() to the kernel, and what happens when the kernel takes no more.
#include "connection.hpp"

#include "../../base/build/planted_bugs.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <exception>
#include <new>
#include <utility>

namespace quintet {
namespace {

constexpr std::size_t most_pieces = 64;  // in one send: a megabyte of chunks, and far below IOV_MAX
static_assert(most_pieces <= IOV_MAX);

}  // namespace

bool connection::write_more(bytes data) { return write(std::span(&data, 1)); }

bool connection::write(std::span<const bytes> pieces) {
  check_held();
  std::size_t sum = 0;
  for (const bytes& piece : pieces) sum += piece.size();
  if (const admission verdict = ask(sum); verdict != admission::taken) return verdict == admission::dropped;
  for (const bytes& piece : pieces)
    if (!output_.try_append(piece)) append_output(piece);
  has_written();
  return true;
}

bool connection::write(shared_bytes data) {
  check_held();
  const bytes all = data ? bytes(*data) : bytes();
  // Where there was no memory for a chunk, the reference would be alone, and be taken for one.
  if (all.size() < large_write || !output_.equipped()) return write_more(all);
  if (const admission verdict = ask(all.size()); verdict != admission::taken) return verdict == admission::dropped;
  output_.append(std::move(data), 0);
  has_written();
  return true;
}

void connection::has_written() {
  if (!output_.is_one_piece()) baton_.checks_writes = true;
  if (output_.size() >= event_loop::turn_share && send_now(loop_.counters().sends_full)) {
    state_.mid_message = !planted(detail::bug::messages_are_torn);
    baton_.had_its_share = true;
    loop_.count_written(event_loop::turn_share);
  }
}

void connection::append_output(bytes data) {
  chunk_cache* const spare = loop_.in_this_thread() ? &loop_.chunks() : nullptr;
  if (spare) spare->equip(output_);
  if (!output_.try_append(data)) output_.append(data, spare);
}

void connection::flush() {
  check_held();
  if (!send_now(loop_.counters().sends_flushed)) return;
  state_.mid_message = false;
  loop_.io().flush(engine::flush_extent::output);
}

// From within a batch. False when nothing has left: elsewhere, or behind what is waiting.
bool connection::send_now(counter& reason) {
  if (!loop_.in_this_thread() || state_.failing || output_.empty() || !sending_.empty()) return false;
  if (baton_extras_ && baton_extras_->corks > 0) return false;
  if (baton_.timed && keeps_baton_) got_on_ = true;
  count_sends(reason, [this] { send_output(); });
  loop_.chunks().try_equip(output_);
  gauge_writes();
  return true;
}

cork_guard connection::cork() {
  check_held();
  ++extras_of_baton().corks;
  return cork_guard(*this);
}

void connection::uncork(bool sends) {
  if (--baton_extras_->corks == 0 && sends) flush();
}

cork_guard::cork_guard(connection& of) noexcept : connection_(&of), exceptions_(std::uncaught_exceptions()) {}
void cork_guard::end() const noexcept { connection_->uncork(std::uncaught_exceptions() == exceptions_); }

// Whether so many bytes more may be written.
connection::admission connection::ask(std::size_t count) {
  const std::size_t waits = output_.size() + waiting_now() + count;
  if (!baton_.shutdown_wanted && waits <= std::min(applied_limits().high_watermark, applied_limits().max_output))
    return admission::taken;
  return admit(count);
}

// What is above the gate is known to the server's budget before it takes memory.
connection::admission connection::admit(std::size_t count) {
  if (baton_.shutdown_wanted) return admission::refused;
  const std::size_t waits = output_.size() + waiting_now();
  if (waits > applied_limits().high_watermark) {
    if (applied_limits().full == when_full::error) return admission::refused;
    if (applied_limits().full == when_full::drop) {
      ++extras_of_baton().dropped;
      baton_.has_dropped = true;
      return admission::dropped;
    }
    // The others begin as soon as the loop sees that the peer does not take it.
  }
  const std::size_t written = output_.size() + count;
  baton_.checks_writes = true;
  baton_.overflowed =
      baton_.overflowed || waits + count > applied_limits().max_output ||
      !host_.output.changed(std::exchange(extras_of_baton().charged, written), written, host_.registry.count());
  return baton_.overflowed ? admission::refused : admission::taken;
}

// On the loop, not in the middle of what the handler writes. What is large is kept by reference: a broadcast that many
// peers do not read takes the memory of one.
void connection::send_from_outside(const shared_bytes& data) noexcept {
  if (!takes_from_outside()) return;
  const bool full =
      state_.above_watermark && (applied_limits().full == when_full::drop || applied_limits().full == when_full::error);
  if (full) return loop_.counters().dropped.add();
  send_beside(*data, &data, data->size() < large_write && sending_.size() < event_loop::turn_share);
}

bool connection::takes_from_outside() const noexcept {
  const bool ends =
      state_.shut || state_.lingering || (!state_.baton_out && (baton_.close_wanted || baton_.shutdown_wanted));
  return !state_.failing && !ends;
}

// Whoever has the baton. `merges`: with what else comes in this turn.
void connection::send_beside(bytes data, const shared_bytes* whole, bool merges) noexcept {
  const std::size_t most = applied_limits().max_output;
  if (data.size() > most - std::min(most, sending_.size())) return fail(errc::output_overflow);
  std::size_t gone = 0;
  if (!merges && !state_.sending) count_sends(loop_.counters().sends_outside, [&] { gone = offer(data); });
  if (state_.failing || gone == data.size()) return;
  try {
    if (!whole || data.size() - gone < large_write)
      sending_.append(data.substr(gone), &loop_.chunks());
    else
      sending_.append(*whole, gone);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  note_sending();
  if (!merges) return output_waits();
  wait_for_turn_end();
}

void detail::connection_loop_extras::take_turn() noexcept { end.of.write_on(); }

void detail::connection_turn_end::run(work_item& item) noexcept {
  static_cast<connection_turn_end&>(item).of.turn_ends();
}

void connection::wait_for_turn_end() noexcept {
  if (!have_extras()) return;
  extras_->end.goes_on = true;
  if (!std::exchange(extras_->end.due, true)) loop_.defer(extras_->end);
}

// Before this nothing small was sent, so that a burst from other threads leaves in one send.
void connection::turn_ends() noexcept {
  extras_->end.due = false;
  tell_notices();
  const bool goes_on = std::exchange(extras_->end.goes_on, false);
  if (state_.failing || !(goes_on || extras_->goes_to)) return;
  if (goes_on) count_sends(loop_.counters().sends_outside, [this] { send_waiting(); });
  if (!state_.failing && !state_.baton_out) settle();
}

// The handler had more to write than it may keep waiting, or than its share, and others have had theirs since.
void connection::write_on() noexcept {
  if (state_.failing || state_.baton_out) return;
  if (!baton_.wants_writable || baton_.close_wanted || sending_.size() > applied_limits().low_watermark)
    return settle();
  baton_.wants_writable = false;
  state_.writes_on = !runs_here_;
  if (state_.writes_on) loop_.turn_goes_out();
  send_out(&connection::process_writable);
}

// What has been written joins what waits.
void connection::join_sending(bool kernel_is_full) noexcept {
  adopt_notices();
  if (state_.failing) return;
  const bool waits = kernel_is_full || (extras_ && extras_->charged > 0);  // the kernel says when it takes more
  const std::size_t charged = baton_extras_ ? std::exchange(baton_extras_->charged, 0) : 0;
  if (output_.empty() && charged == 0) return loop_.chunks().take_back(output_);
  sending_.splice(output_, loop_.chunks());
  loop_.chunks().take_back(output_);
  note_sending();
  if (charged > 0) {
    if (!have_extras()) return host_.output.released(charged);
    extras_->charged += charged;
  }
  if (waits)
    output_waits();
  else
    send_waiting();
}

void connection::send_waiting() noexcept {
  while (!sending_.empty() && send_some(sending_)) {
  }
  if (state_.failing) return;
  note_sending();
  output_waits();
}

// True when all of it has gone, or as much as one send gathers.
bool connection::send_some(byte_chain& from) noexcept {
  std::array<iovec, most_pieces> pieces;
  const output_pieces gathered(pieces.data(), from.gather(pieces));
  const std::size_t offered = size_of(gathered), sent = offer(gathered);
  if (state_.failing) return false;
  from.consume(sent, loop_.chunks());
  if (from.empty()) loop_.chunks().take_back(from);
  return sent == offered;
}

// What waits to be sent has changed.
void connection::output_waits() noexcept {
  const std::size_t now = sending_.size();
  if (now == 0 && !extras_) return;
  if (!have_extras()) return;
  const std::size_t before = std::exchange(extras_->charged, now);
  if (extras_->deadlines && extras_->deadlines->output(now > 0, loop_.now())) watch_time();
  if (!host_.output.changed(before, now, host_.registry.count())) return fail(errc::output_overflow);
  watch_watermarks();
}

void connection::watch_watermarks() noexcept {
  const connection_limits& l = applied_limits();
  const bool above = sending_.size() > (state_.above_watermark ? l.low_watermark : l.high_watermark);
  if (above != state_.above_watermark) {
    state_.above_watermark = above;
    if (connection_deadlines* const d = deadlines(); d && !state_.baton_out) d->hold(looks_away(), loop_.now());
    tell_above(above);
  }
  if (l.full == when_full::close && sending_.size() > l.high_watermark) fail(errc::output_full);
}

// Those who have to know: senders, where the policy refuses what they send, and what is fed from.
void connection::tell_above(bool above) noexcept {
  if (applied_limits().full == when_full::error) host_.registry.set_full(id_, above);
  tell_source(above);
}

void connection::tell_source(bool hold) noexcept {
  if (!own_ || !own_->source) return;
  try {
    host_.registry.hold(own_->source, hold ? 1 : -1);
  } catch (const std::bad_alloc&) {
    if (hold) state_.above_watermark = false;  // fail() must not take back what was not told
    out_of_memory();
  }
}

}  // namespace quintet
