// SPDX-License-Identifier: BSL-1.0
// send_notices: calls each notice once, in the order of requests, and contains its exceptions.
#include "send_notices.hpp"

#include "../watch/activity.hpp"

namespace quintet {

send_notices::~send_notices() { waiting_.clear_and_dispose(std::default_delete<send_notice>()); }

void send_notices::add(std::unique_ptr<send_notice> fresh, std::uint64_t position) noexcept {
  fresh->position_ = position;
  waiting_.push_back(*fresh.release());
}

void send_notices::take(send_notices& others, std::uint64_t base) noexcept {
  for (send_notice& n : others.waiting_) n.position_ += base;
  waiting_.splice(waiting_.end(), others.waiting_);
}

bool send_notices::is_due(std::uint64_t sent) const noexcept {
  return !waiting_.empty() && waiting_.front().position_ <= sent;
}

unsigned send_notices::call_due(std::uint64_t sent) noexcept {
  unsigned thrown = 0;
  while (is_due(sent)) thrown += call_first({});
  return thrown;
}

unsigned send_notices::call_all(error_code why) noexcept {
  unsigned thrown = 0;
  while (!waiting_.empty()) thrown += call_first(why);
  return thrown;
}

unsigned send_notices::call_first(error_code why) noexcept {
  const std::unique_ptr<send_notice> first(&waiting_.front());
  waiting_.pop_front();
  try {
    const callback_scope scope(callback::when_sent, nullptr, first->type());
    first->call(why);
    return 0;
  } catch (...) {
    return 1;
  }
}

}  // namespace quintet
