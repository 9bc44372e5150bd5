// SPDX-License-Identifier: BSL-1.0
// stream: the coroutine's side of the baton.
#include <quintet/net/stream.hpp>

namespace quintet {

// The root of the chain: whatever happens in the user's coroutine ends here.
awaitable<> stream::drive(stream& s) {
  bool by_exception = false;
  try {
    co_await s.make_coroutine();
  } catch (...) {
    s.report_exception();
    by_exception = true;
  }
  s.ended(by_exception);
}

void stream::run_open() noexcept {
  try {
    root_ = drive(*this);
  } catch (...) {  // no memory for the frame
    return ended(true);
  }
  root_.start(*this);
}

void stream::ended(bool by_exception) noexcept {
  ended_ = true;
  used(std::exchange(lent_, 0));
  if (by_exception)
    fail_handler();
  else
    close();
  if (closing_)
    close_is_done();
  else
    give_back();
}

bool stream::begin_read() {
  used(std::exchange(lent_, 0));
  return has_news();
}

void stream::wait_for_input(std::coroutine_handle<> waiting) noexcept {
  suspended_ = waiting;
  give_back();
}

// What read() has lent stays where it is: what arrives meanwhile is read ahead.
void stream::wait_for_room(std::coroutine_handle<> waiting) noexcept {
  suspended_ = waiting;
  ask_for_writable();
  give_back();
}

std::optional<bytes> stream::end_read() {
  if (at_end()) {
    flush();
    return std::nullopt;
  }
  const bytes all = take_input();
  lent_ = all.size();
  return all;
}

std::size_t stream::run_batch(bytes) noexcept {
  resume_waiting();
  return 0;
}

// The connection has failed while the coroutine was waiting for input, or had ended.
void stream::run_close(error_code) noexcept {
  closing_ = true;
  if (ended_)
    close_is_done();
  else
    resume_waiting();
}

void stream::resume_waiting() noexcept { std::exchange(suspended_, nullptr).resume(); }

}  // namespace quintet
