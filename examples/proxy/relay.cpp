// SPDX-License-Identifier: BSL-1.0
// relay: the ends exchange bytes, ends of streams and window updates through the registry.
#include "proxy/relay.hpp"

#include <utility>

namespace example::proxy {

using quintet::connection;

void relay_end::join(connection& c, quintet::connection_id other, std::shared_ptr<relay_end> its_end,
                     std::string header) {
  other_ = other;
  other_end_ = std::move(its_end);
  if (!header.empty() && c.registry().send(other_, std::make_shared<const std::string>(std::move(header))))
    return c.close();
  if (!early_.empty()) send(c, std::exchange(early_, {}));
  if (forwarded_ - left_ < window_) c.resume_reading();
  if (finished_) tell_of_eof(c);
}

void relay_end::forward(connection& c, quintet::bytes in) {
  if (other_) return send(c, in);
  early_.append(in);
  if (early_.size() >= most_early) c.pause_reading();
}

// registry().send() makes the only copy, and merges short input with waiting output.
void relay_end::send(connection& c, quintet::bytes in) {
  if (c.registry().send(other_, in)) return c.close();  // the other connection has closed
  forwarded_ += in.size();
  if (forwarded_ - asked_ >= window_ / 2) ask_when_sent(c);
  if (forwarded_ - left_ >= window_) c.pause_reading();
}

// Requests a notification for each half window, so that one is always outstanding while reading is paused.
void relay_end::ask_when_sent(connection& c) {
  asked_ = forwarded_;
  auto ask = [self = shared_from_this(), so_far = asked_, from = c.id()](connection& to) {
    self->count_when_sent(to, so_far, from);
  };
  if (c.registry().post(other_, std::move(ask))) c.close();
}

// Counts in the notice, not in was_sent(): this end's connection may have closed before its bytes leave.
void relay_end::count_when_sent(connection& to, std::uint64_t so_far, quintet::connection_id from) {
  to.when_sent([self = shared_from_this(), so_far, from, &connections = to.registry()](quintet::error_code ec) {
    if (ec) return;
    self->sent_.fetch_add(so_far - std::exchange(self->counted_, so_far), std::memory_order_relaxed);
    if (from) (void)connections.post(from, [self, so_far](connection& source) { self->was_sent(source, so_far); });
  });
}

void relay_end::was_sent(connection& c, std::uint64_t so_far) {
  left_ = so_far;
  if (forwarded_ - left_ < window_) c.resume_reading();
}

void relay_end::read_eof(connection& c) {
  finished_ = true;
  if (other_) tell_of_eof(c);
}

void relay_end::tell_of_eof(connection& c) {
  (void)c.registry().post(other_, [self = shared_from_this(), its = other_end_, so_far = forwarded_](connection& to) {
    self->count_when_sent(to, so_far);
    its->other_has_finished(to);
  });
  if (other_finished_) c.close();
}

void relay_end::other_has_finished(connection& c) {
  other_finished_ = true;
  c.shutdown_send();
  if (finished_) c.close();
}

void relay_end::closed(connection& c) {
  other_end_.reset();
  if (!other_) return;
  (void)c.registry().post(
      other_, [self = shared_from_this(), so_far = forwarded_](connection& to) { self->count_when_sent(to, so_far); });
  (void)c.registry().close(other_);
}

}  // namespace example::proxy
