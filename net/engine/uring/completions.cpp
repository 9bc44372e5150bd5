// SPDX-License-Identifier: BSL-1.0
// uring_engine: dispatches completions to channels.
#include "../socket_services.hpp"
#include "engine.hpp"

#include <poll.h>

#include <cerrno>
#include <new>

namespace quintet::uring {
namespace {

constexpr unsigned most_starved = receive_buffers::count;

}  // namespace

/// Marks a callback as in progress. Meanwhile, resume_or_forget() starts no request of its `watched` and does not
/// delete it.
struct uring_engine::callback {
  uring_engine& of;
  watched& about;
  callback(uring_engine& engine, watched& w) noexcept : of(engine), about(w) { w.busy = true; }
  callback(const callback&) = delete;
  callback& operator=(const callback&) = delete;
  ~callback() {  // also if the callback throws
    about.busy = false;
    of.resume_or_forget(about);
  }
};

bool uring_engine::completed(const completion& c) {
  watched* const w = watched_of(c);
  if (!w) {
    if (request_of(c) == request::wake) listens_for_wakes_ = false;
    return false;
  }
  if (!c.more()) {
    const auto others = static_cast<std::uint16_t>(~watched::bit(request_of(c)));
    w->in_flight &= others;
    w->cancelled &= others;
    w->deferred_cancel &= others;
  }
  const callback in_progress(*this, *w);
  return dispatch(*w, c);
}

bool uring_engine::dispatch(watched& w, const completion& c) {
  switch (request_of(c)) {
    case request::receive: {
      const bool told = received(w, c);
      buffers_.give_back(c);
      return told;
    }
    case request::send:
      return sent(w, c);
    case request::hangup:
      return hung_up(w, c);
    case request::writable:
      return writable(w);
    case request::accept:
      return accepted(w, c);
    case request::held:
      return dispatch_accepted(w);
    case request::lost:
      return w.target && end_of_input(w, system_error_code(ECONNABORTED));
    case request::close_timeout:
      if (c.result == -ETIME) on_close_timeout(w);
      return false;
    case request::event:
      return dispatch_event(w, c);
    default:
      return false;
  }
}

bool uring_engine::dispatch_event(watched& w, const completion& c) {
  if (!w.target || c.result < 0) return false;
  static_cast<event_channel&>(*w.target).on_event();
  return true;
}

// Delivers bytes even if reading has been stopped since: the kernel no longer holds them.
bool uring_engine::received(watched& w, const completion& c) {
  if (!w.target || w.ended) return false;
  auto& s = static_cast<stream_channel&>(*w.target);
  switch (c.result) {
    case 0:
      return end_of_input(w, {});
    case -ENOBUFS:
      if (w.has(request::receive_retry)) return false;
      w.in_flight |= watched::bit(request::receive_retry);
      starved_.push_back(w);
      return false;
    case -ECANCELED:
    case -EINTR:
    case -EAGAIN:
      return false;
    default:
      if (c.result < 0) return end_of_input(w, system_call::error_of(c.result));
      s.on_received(buffers_.contents(c));
      return true;
  }
}

bool uring_engine::end_of_input(watched& w, error_code reason) {
  w.ended = true;
  static_cast<stream_channel&>(*w.target).on_receive_end(reason);
  return true;
}

// All buffers are free again, since the received bytes have been delivered. Starts at most one receive per buffer: more
// would fail again with ENOBUFS.
void uring_engine::restart_starved() noexcept {
  for (unsigned left = most_starved; left > 0 && !starved_.empty(); --left) {
    watched& w = starved_.front();
    starved_.pop_front();
    w.in_flight &= static_cast<std::uint16_t>(~watched::bit(request::receive_retry));
    resume_or_forget(w);
  }
}

// Reports the error of a paused stream. POLLHUP or POLLRDHUP without POLLERR is no error: a later read returns the
// queued input and then the end.
bool uring_engine::hung_up(watched& w, const completion& c) {
  if (!w.target || c.result <= 0 || (c.result & POLLERR) == 0 || w.wants_input()) return false;
  return end_of_input(w, kernel_sockets::pending_error(w.handle));
}

bool uring_engine::writable(watched& w) {
  if (!w.target) return false;
  w.blocked = false;
  if (is_stream(*w.target)) {
    static_cast<stream_channel&>(*w.target).on_sendable();
    return true;
  }
  auto& c = static_cast<connect_channel&>(*w.target);
  const int handle = w.handle;
  remove(c);
  c.on_connected(kernel_sockets::finish_connect(handle));
  return true;
}

bool uring_engine::accepted(watched& w, const completion& c) noexcept {
  if (c.result >= 0 && (!w.target || !w.reading || !w.accepted.empty())) {
    keep_accepted(w, c.result);
    return false;
  }
  if (!w.target || !w.reading || c.result == -ECANCELED) return false;
  auto& channel = static_cast<accept_channel&>(*w.target);
  if (c.result >= 0) {
    w.failures = 0;
    channel.on_accepted(c.result);
  } else if (!kernel_sockets::is_connection_error(-c.result) ||
             ++w.failures == kernel_sockets::max_consecutive_failures) {
    w.failures = 0;
    channel.on_accept_error(system_call::error_of(c.result));
  }
  return true;
}

// Keeps a handle until accepting resumes, or resets it when the listener closes.
void uring_engine::keep_accepted(watched& w, int handle) noexcept try {
  w.accepted.push_back(handle);
} catch (const std::bad_alloc&) {
  sockets().reset_when_closed(handle);
  engine::close(handle);
  if (w.target) static_cast<accept_channel&>(*w.target).on_accept_error(system_error_code(ENOMEM));
}

bool uring_engine::dispatch_accepted(watched& w) noexcept {
  std::size_t told = 0;
  while (told < w.accepted.size() && w.target && w.reading)
    static_cast<accept_channel&>(*w.target).on_accepted(w.accepted[told++]);
  w.accepted.erase(w.accepted.begin(), w.accepted.begin() + static_cast<std::ptrdiff_t>(told));
  return told > 0;
}

}  // namespace quintet::uring
