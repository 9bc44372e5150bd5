// SPDX-License-Identifier: BSL-1.0
// connection_notices: who is told that what was written has been sent, when, and when not.
#include "connection.hpp"

#include <utility>

namespace quintet {

// A notice waits on the baton's side while the bytes before it are in output_, then on the loop's. There it is due, or
// sending_ holds bytes that come before it: the short way, which counts nothing, is closed meanwhile.

void connection::add_notice(std::unique_ptr<send_notice> notice) {
  extras_of_baton().notices.add(std::move(notice), output_.size());
  baton_.checks_writes = true;  // so that output_ joins sending_
  if (loop_.in_this_thread() && output_.empty()) adopt_notices();
}

// On the loop, with the baton, before output_ joins sending_.
void connection::adopt_notices() noexcept {
  if (!baton_extras_ || baton_extras_->notices.empty() || state_.failing || !have_extras()) return;
  extras_->notices.take(baton_extras_->notices, extras_->taken + sending_.size());
  note_taken(0);
}

void connection::note_taken(std::size_t count) noexcept {
  if (!extras_ || extras_->notices.empty()) return;
  extras_->taken += count;
  if (extras_->notices.is_due(extras_->taken)) tell_at_turn_end();
}

// Not at once: a handler may be in the middle of a flush().
void connection::tell_at_turn_end() noexcept {
  if (extras_ && !extras_->notices.empty() && !std::exchange(extras_->end.due, true)) loop_.defer(extras_->end);
}

void connection::tell_notices() noexcept {
  unsigned thrown = extras_->notices.tell_due(extras_->taken);
  if (state_.failing) thrown += extras_->notices.tell_all(why_not_sent());
  loop_.counters().handler_errors.add(thrown);
}

// The baton is at home for the last time, and no handler at work.
void connection::tell_all_notices() noexcept {
  if (extras_) tell_notices();
  if (baton_extras_) loop_.counters().handler_errors.add(baton_extras_->notices.tell_all(why_not_sent()));
}

// Never none, which would mean that it was sent.
error_code connection::why_not_sent() const noexcept { return reason() ? reason() : errc::end_of_stream; }

}  // namespace quintet
