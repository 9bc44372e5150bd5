// SPDX-License-Identifier: BSL-1.0
// uring_engine: sends, and dispatches completions to channels.
#include "../passed_descriptors.hpp"
#include "../socket_services.hpp"
#include "../system_call.hpp"
#include "uring_engine.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

namespace quintet::uring {
namespace {

constexpr unsigned most_starved = receive_buffers::count;

}  // namespace

// ---- Sends: small ones are copied until the turn ends; others are sent at once --------------------------------------

engine::send_result uring_engine::send(stream_channel& c, output_pieces pieces) noexcept {
  watched& w = *find(c.handle());
  const std::size_t count = size_of(pieces);
  if (w.has(request::send)) {
    if (adds_to_unsent(w, pieces, count)) return {count};
    w.blocked = true;
    await_silent(w);
    return {0};
  }
  return queue(w, pieces, count) ? send_result{count} : send_now(w, pieces);
}

// Appends the second reply of a turn to the first.
bool uring_engine::adds_to_unsent(watched& w, output_pieces pieces, std::size_t count) noexcept {
  if (!w.unsent || !ring_->is_unsubmitted(w.number) || w.size + count > send_slots::size || w.blocked) return false;
  slots_.append(w.slot, w.size, pieces);
  w.size += static_cast<std::uint32_t>(count);
  w.unsent->len = w.size - w.sent;
  return true;
}

bool uring_engine::queue(watched& w, output_pieces pieces, std::size_t count) noexcept {
  if (count > send_slots::size) return false;
  w.slot = slots_.take();
  if (w.slot == send_slots::none) return false;
  slots_.append(w.slot, 0, pieces);
  w.sent = 0;
  w.size = static_cast<std::uint32_t>(count);
  w.silent = true;
  if (!prepare(w, request::send, false)) {
    release_slot(w);
    w.silent = false;
    return false;
  }
  w.in_flight |= watched::bit(request::send);
  silent_.push_back(&w);
  return true;
}

// The first attempt does not wait for room, and a full success posts no completion, which would end the next wait at
// once. MSG_WAITALL makes Linux treat a partial send as a failure, which always posts a completion. Later attempts wait
// in the kernel for room.
void uring_engine::prepare_send(io_uring_sqe& s, watched& w) noexcept {
  const int first = w.silent ? MSG_DONTWAIT : 0;
  io_uring_prep_send(&s, w.handle, slots_.at(w.slot) + w.sent, w.size - w.sent, MSG_NOSIGNAL | MSG_WAITALL | first);
  if (w.silent) s.flags |= IOSQE_CQE_SKIP_SUCCESS;
  w.unsent = &s;
  w.number = ring_->number();
}

// Makes the next poll() not wait: a silent send has no completion that could end its wait.
void uring_engine::await_silent(const watched& w) noexcept { silence_is_awaited_ |= w.silent; }

// Completes the silent sends of the submitted turn: those for which the kernel has posted nothing have succeeded.
bool uring_engine::complete_silent_sends() {
  if (silent_.empty() || !ring_->all_told()) return false;
  ring_->for_each_ready([](const completion& c) {
    if (watched* const w = watched_of(c); w && request_of(c) == request::send) w->silent = false;
  });
  completing_.swap(silent_);
  silence_is_awaited_ = !silent_.empty();  // true if a callback threw in the previous call
  bool dispatched = false;
  while (!completing_.empty()) {
    watched& w = *completing_.back();
    completing_.pop_back();
    if (std::exchange(w.silent, false))
      dispatched |= completed({w.tag(request::send), static_cast<std::int32_t>(w.size - w.sent), 0});
  }
  return dispatched;
}

// A send after close() has found no room. The peer would take a truncated reply for a whole one, so wait as long as the
// peer accepts bytes.
void uring_engine::wait_for_room(watched& w) noexcept {
  if (w.drops) return cancel(w, request::send);
  w.closing.wait(sockets().unsent(w.handle));
  if (!w.has(request::close_timeout)) start(w, request::close_timeout);
}

void uring_engine::on_close_timeout(watched& w) noexcept {
  if (!w.has(request::send)) return;
  w.drops = w.closing.gives_up(sockets().unsent(w.handle), sockets(), w.handle);
  wait_for_room(w);
}

engine::send_result uring_engine::send_now(watched& w, output_pieces pieces) noexcept {
  const send_result sent = result_of_send(system_call::send(w.handle, pieces, MSG_DONTWAIT | MSG_NOSIGNAL));
  if (sent.error == 0 && sent.bytes < size_of(pieces)) {
    w.blocked = true;
    if (!w.busy) start_needed_requests(w);
  }
  return sent;
}

// The caller already counts a failed send as sent. Receiving goes on, since bytes may have arrived before.
bool uring_engine::sent(watched& w, const completion& c) {
  w.unsent = nullptr;
  if (std::exchange(w.silent, false))
    std::erase(silent_, &w);  // the completion queue overflowed, so nothing was settled
  if (c.result > 0) w.sent += static_cast<std::uint32_t>(c.result);
  const bool fails = c.result < 0 && !system_call::is_for_now(c.result);
  if (!fails && w.sent < w.size && !w.drops) {
    start(w, request::send);
    if (w.closes) wait_for_room(w);
    return false;
  }
  release_slot(w);
  after_send(w);
  if (!w.target) return false;
  const bool was_blocked = std::exchange(w.blocked, false);
  auto& s = static_cast<stream_channel&>(*w.target);
  if (fails)
    s.on_send_failed(system_call::error_of(c.result));
  else if (was_blocked)
    s.on_sendable();
  return fails || was_blocked;
}

void uring_engine::release_slot(watched& w) noexcept {
  if (w.slot != send_slots::none) slots_.give_back(std::exchange(w.slot, send_slots::none));
}

void uring_engine::after_send(watched& w) noexcept {
  if (std::exchange(w.shuts, false)) ::shutdown(w.handle, SHUT_WR);
  cancel(w, request::close_timeout);
}

void uring_engine::shutdown_send(stream_channel& c) noexcept {
  watched* const w = find(c.handle());
  if (!w || !w->has(request::send)) return engine::shutdown_send(c);
  w->shuts = true;
  await_silent(*w);
}

// ---- Completions, dispatched to channels ----------------------------------------------------------------------------

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
      const bool told = w.guarded && c.result > 0 ? receive_guarded(w) : received(w, c);
      buffers_.give_back(c);
      return told;
    }
    case request::send:
      return sent(w, c);
    case request::hangup:
      return hung_up(w, c);
    case request::writable:
      return writable(w, c);
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
  w.ended = c.result == -EBADF;  // the owner has closed the descriptor: epoll would report nothing either
  if (!w.target || c.result < 0) return false;
  static_cast<event_channel&>(*w.target).on_event();
  return true;
}

// The kernel has reported input. A request to receive it would drop descriptors in this thread.
bool uring_engine::receive_guarded(watched& w) {
  if (!w.target || !w.wants_input()) return false;
  std::array<char, receive_buffers::size> place;
  const std::size_t most = std::min(place.size(), receive_limit());
  const ssize_t n = passed_descriptors::receive(w.handle, place.data(), most, MSG_DONTWAIT);
  if (system_call::is_for_now(n)) return false;
  if (n <= 0) return end_of_input(w, system_call::error_of(n));
  static_cast<stream_channel&>(*w.target).on_received({place.data(), static_cast<std::size_t>(n)});
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
      w.is_empty = (c.flags & IORING_CQE_F_SOCK_NONEMPTY) == 0;
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

// Reports the error of a paused stream, or its peer's end: a later read returns the queued input and then the end.
bool uring_engine::hung_up(watched& w, const completion& c) {
  if (!w.target || c.result <= 0 || w.wants_input()) return false;
  if ((c.result & POLLERR) == 0) {
    if (w.ended) return false;
    static_cast<stream_channel&>(*w.target).on_peer_finished();
    return true;
  }
  w.ended = report_error(static_cast<stream_channel&>(*w.target));
  return true;
}

bool uring_engine::writable(watched& w, const completion& done) {
  if (!w.target) return false;
  if (is_stream(*w.target)) {  // an error of the poll: the next send learns whether there is room
    w.blocked = false;
    static_cast<stream_channel&>(*w.target).on_sendable();
    return true;
  }
  if (done.result == -ECANCELED || system_call::is_for_now(done.result)) return false;  // polls again
  w.blocked = false;
  auto& c = static_cast<connect_channel&>(*w.target);
  const int handle = w.handle;
  remove(c);
  c.on_connected(done.result < 0 ? system_call::error_of(done.result) : kernel_sockets::finish_connect(handle));
  return true;
}

// A multishot accept would take the whole backlog before the first connection is counted.
bool uring_engine::acceptable(watched& w, const completion& c) noexcept {
  if (!w.target || !w.reading || c.result == -ECANCELED) return false;
  auto& channel = static_cast<accept_channel&>(*w.target);
  if (c.result < 0)
    channel.on_accept_error(system_call::error_of(c.result));
  else
    accept_ready(channel, ring_->ready());
  return true;
}

bool uring_engine::accepted(watched& w, const completion& c) noexcept {
  if (w.limited) return acceptable(w, c);
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
