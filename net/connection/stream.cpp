// SPDX-License-Identifier: BSL-1.0
// stream: the coroutine's side of the baton.
#include "stream.hpp"

#include "connection_handoff.hpp"

namespace quintet {

using detail::connection_handoff;

// The root of the chain: every result of the user's coroutine ends here.
awaitable<> stream::drive(stream& s) {
  bool by_exception = false;
  try {
    co_await s.make_coroutine();
  } catch (...) {
    by_exception = !s.is_cancellation();
    if (by_exception) connection_handoff::report_exception(s);
  }
  s.ended(by_exception);
}

// In a catch block. A cancelled operation throws, and its exception may end the coroutine: the handler has made no
// error.
bool stream::is_cancellation() const noexcept {
  if (!heard_.is_cancelled()) return false;
  try {
    throw;
  } catch (const boost::system::system_error&) {
    return true;
  } catch (...) {
    return false;
  }
}

void stream::run_open() noexcept {
  try {
    root_ = drive(*this);
  } catch (...) {  // no memory for the frame
    return ended(true);
  }
  const callback_scope scope = connection_handoff::calling(*this, callback::coroutine);
  root_.start(*this);
}

inline void stream::resume_waiting() noexcept {
  wanted_ = nullptr;
  resume(std::exchange(suspended_, nullptr));
}

// An idle connection has the baton, so the coroutine waits in a read. Nearly always it waits there again afterwards.
void stream::on_received(bytes arrived) noexcept {
  if (!is_idle({.slow_path = true})) return connection::on_received(arrived);
  if (const detail::end_reason why = input_.append(*this, arrived)) return fail(why.code());
  run_fast(arrived.size(), [this] {
    if (wanted_) [[unlikely]]
      run_batch({});
    else
      resume_waiting();
  });
}

void stream::ended(bool by_exception) noexcept {
  use_lent();
  handler_ended(by_exception);
}

/// Marks the input of the coroutine's last read as used.
void stream::use_lent() noexcept { input_.consume(*this, std::exchange(lent_, 0)); }

bool stream::begin_read() {
  use_lent();
  if (input_.unread() > 0 || at_end()) return !needs_return();
  return reads_have_expired() && (expires_ = true);
}

// The loop has the baton while the coroutine waits in a read, unless a posted function runs. Unseen input is held back,
// or the coroutine would not wait: it stays unseen.
void stream::reads_expire() noexcept {
  if (!suspended_ || has_ended() || baton_is_out() || waits_for_room()) return;
  expires_ = !wanted_;
  connection_handoff::dispatch_step(*this, &connection_handoff::batch);
}

void stream::wait_for_input(std::coroutine_handle<> waiting) noexcept {
  suspended_ = waiting;
  input_.note_unseen(*this, input_.unread() > 0);
  if (counts_codec_) [[unlikely]]
    return forget_codec();
  hand_back();
}

void stream::forget_codec() noexcept {
  count_codec_input(0);
  hand_back();
}

// Lent input stays in place: new input becomes pending.
void stream::wait_for_room(std::coroutine_handle<> waiting) noexcept {
  suspended_ = waiting;
  output_.wait_for_room(*this);
  input_.note_unseen(*this, false);
  hand_back();
}

[[gnu::noinline]] std::optional<bytes> stream::end_late_read() {
  expires_ = false;
  const bytes all = holds_input() ? bytes() : take_input();
  lent_ = all.size();
  if (!all.empty()) return all;
  flush();
  return std::nullopt;
}

std::optional<bytes> stream::end_read() {
  if (at_end()) {
    heard_.end_request(true);
    flush();
    return std::nullopt;
  }
  if (expires_) [[unlikely]]
    return end_late_read();
  const bytes all = take_input();
  lent_ = all.size();
  return all;
}

// ---- Messages -------------------------------------------------------------------------------------------------------

bool stream::begin_message(message_wait& wanted) noexcept {
  use_lent();
  return !needs_return() && (try_parse(wanted) || reads_have_expired());
}

bool stream::try_parse(message_wait& wanted) noexcept {
  wanted.has_looked_ = true;
  try {
    wanted.found_ = next_frame(wanted);
    return wanted.found_.is != frame::state::incomplete;
  } catch (...) {
    wanted.thrown_ = std::current_exception();
    return true;
  }
}

// Returns `incomplete` only if there is something to wait for.
frame stream::next_frame(message_wait& wanted) {
  for (;;) {
    if (has_ended()) return frame::failed(reason() ? reason() : errc::end_of_stream);  // closed through the registry
    const bytes in = take_input();
    const frame f = wanted.parse(in);
    if (f.is != frame::state::complete && f.error == errc::bad_checksum) count_checksum_error();
    if (f.is == frame::state::consumed) {
      input_.consume(*this, f.size);
      continue;
    }
    if (f.is != frame::state::incomplete) return f;
    if (f.size > limits().max_input) return frame::failed(errc::message_too_big);
    if (!is_input_finished()) return f;
    return frame::failed(in.empty() && !wanted.within_message() ? errc::end_of_stream : errc::incomplete_message);
  }
}

void stream::wait_for_message(message_wait& wanted, std::coroutine_handle<> waiting) noexcept {
  suspended_ = waiting;
  wanted_ = &wanted;
  wait_for_more(wanted);
}

void stream::wait_for_more(message_wait& wanted) noexcept {
  input_.note_unseen(*this, !wanted.has_looked_);
  constexpr std::size_t comes_at_once = 4096;  // nearly always: a requirement would cost the next batch the fast path
  const std::size_t needed = wanted.found_.size;
  if (wanted.has_looked_ && (input_.unread() > 0 || needed > comes_at_once)) require_input(needed);
  if (wanted.within_message()) mark_incomplete(has_progressed());
  count_codec_input(wanted.kept_bytes());
  hand_back();
}

// Without a codec that keeps memory, the coroutine's own count stays.
void stream::count_codec_input(std::size_t size) noexcept {
  if (size == 0 && !counts_codec_) return;
  counts_codec_ = size > 0;
  count_kept_input(size);
}

boost::system::result<bytes> stream::end_message(message_wait& wanted) {
  if (wanted.thrown_) std::rethrow_exception(wanted.thrown_);
  if (wanted.found_.is == frame::state::incomplete) {
    flush();
    return errc::deadline_passed;
  }
  if (wanted.found_.is == frame::state::failed) {
    heard_.end_request(true);
    flush();
    return wanted.found_.error;
  }
  note_progress(true);
  lent_ = wanted.found_.size;
  count_codec_input(wanted.kept_bytes());  // also while it waits for room; the next wait in a read counts anew
  return wanted.found_.message;
}

// ---- What the connection calls --------------------------------------------------------------------------------------

std::size_t stream::run_batch(bytes) noexcept {
  const bool expires = reads_have_expired();
  if (wanted_ && !(expires && holds_input()) && !try_parse(*wanted_) && !expires) {
    wait_for_more(*wanted_);
  } else {
    resume_waiting();
  }
  return 0;
}

void stream::run_writable() noexcept { resume_waiting(); }

// The connection failed while the coroutine waited for input or for room.
void stream::run_close(error_code) noexcept {
  closing_ = true;
  if (wanted_) try_parse(*wanted_);
  resume_waiting();
}

void stream::resume_watched(std::coroutine_handle<> waiting) noexcept {
  const callback_scope scope = connection_handoff::calling(*this, callback::coroutine);
  waiting.resume();
}

}  // namespace quintet
