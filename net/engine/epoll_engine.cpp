// SPDX-License-Identifier: BSL-1.0
// epoll_engine: waits, receives and sends on a level-triggered epoll set.
#include "epoll_engine.hpp"

#include "passed_descriptors.hpp"
#include "system_call.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <span>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

// Marks the interest of a stream at which descriptors can arrive (passed_descriptors). No file has this event. Input is
// then reported with EPOLLRDNORM, so that it is never EPOLLIN alone: other streams need no check.
constexpr std::uint32_t guarded = EPOLLMSG;

constexpr std::uint32_t events_for(std::uint32_t interest) noexcept {
  return (interest & guarded) && (interest & EPOLLIN) ? interest | EPOLLRDNORM : interest;
}

/// Waits as epoll_wait does, without a cancellation point. A failure is negative.
int wait_for_events(int set, epoll_event* ready, int size, int milliseconds) noexcept {
#if QUINTET_DIRECT_SYSTEM_CALLS && defined(SYS_epoll_wait)
  return static_cast<int>(system_call::direct(SYS_epoll_wait, set, system_call::as_word(ready), size, milliseconds));
#else
  return ::epoll_wait(set, ready, size, milliseconds);
#endif
}

}  // namespace

epoll_engine::epoll_engine()
    : socket_engine({.name = "epoll", .can_detach = true, .shared_accept = true, .exclusive_accept = true}, this),
      set_(::epoll_create1(EPOLL_CLOEXEC)),
      received_(std::make_unique_for_overwrite<char[]>(receive_size)) {
  send_directly();
  if (!set_) throw_system_error(errno, "cannot create an event loop: epoll_create1");
  // Each wake-up is an edge, so the eventfd is never read. Its counter would take centuries to overflow.
  if (watch(wake_, wake_.descriptor().get(), EPOLLIN | EPOLLET))
    throw_system_error(errno, "cannot create an event loop: epoll_ctl");
}

// An interrupted wait counts as one without events: the loop checks its inbox and polls again.
inline int epoll_engine::wait(duration longest) noexcept {
  return wait_for_events(set_.get(), ready_.data(), batch, system_call::to_milliseconds(longest));
}

bool epoll_engine::poll(duration longest) {
  const int count = wait(longest);
  int ignored = std::min(count, 0);  // events of the wake event
  const std::span<const epoll_event> events(ready_.data(), static_cast<std::size_t>(std::max(count, 0)));
  for (const epoll_event& event : events) {
    channel& c = *static_cast<channel*>(event.data.ptr);
    if (c.handle() < 0) continue;  // an earlier callback of this turn removed it
    if (kind_of(c) == kind::stream) [[likely]]
      stream_ready(static_cast<stream_channel&>(c), event.events);
    else if (!dispatch(event, events.size()))
      ++ignored;
  }
  return count > ignored;
}

void epoll_engine::wake() noexcept { wake_.raise(); }

// Returns false for the wake event.
bool epoll_engine::dispatch(const epoll_event& event, std::size_t in_turn) {
  channel& c = *static_cast<channel*>(event.data.ptr);
  if (&c == &wake_) return false;
  switch (kind_of(c)) {
    case kind::stream:
      break;
    case kind::accept:
      accept_ready(static_cast<accept_channel&>(c), in_turn);
      break;
    case kind::event:
      static_cast<event_channel&>(c).on_event();
      break;
    case kind::connect:
      connect_ready(static_cast<connect_channel&>(c));
      break;
    case kind::in_place_stream:
      in_place_stream_ready(static_cast<stream_channel&>(c), event.events);
      break;
  }
  return true;
}

inline void epoll_engine::stream_ready(stream_channel& c, std::uint32_t events) {
  // Receives even if a callback of this turn has paused the stream: the pause takes effect in the next turn.
  if (events == EPOLLIN) [[likely]]
    return receive(c);
  more_than_input(c, events);
}

// Not inlined, so that the common path stays small enough to be inlined into the loop.
[[gnu::noinline]] void epoll_engine::more_than_input(stream_channel& c, std::uint32_t events) {
  if (events & EPOLLOUT) {
    blocked_ = false;
    c.on_sendable();
    if (c.handle() < 0) return;
    // Now, so that a send that blocks again costs no epoll_ctl. After a failure, the event repeats.
    if (!blocked_) (void)set_interest(c, EPOLLOUT, false);
  }
  // epoll reports EPOLLHUP and EPOLLERR always. recv returns the error, pending_error() that of a paused stream.
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP))) return;
  if (!(interest(c) & EPOLLIN)) {
    if (events & EPOLLERR) return (void)report_error(c);
    if (interest(c) & events & EPOLLRDHUP) {
      (void)set_interest(c, EPOLLRDHUP, false);
      c.on_peer_finished();
      if (c.handle() < 0) return;
    }
    // Both sides have finished sending, and the paused stream will read its input later. Edge-triggered until then, or
    // epoll would repeat the event in each turn.
    if (events & EPOLLHUP) (void)set_interest(c, EPOLLET, true);
    return;
  }
  if (interest(c) & guarded) return receive_guarded(c);
  receive(c);
}

void epoll_engine::receive_guarded(stream_channel& c) {
  const ssize_t n = passed_descriptors::receive(c.handle(), received_.get(), receive_limit(), MSG_DONTWAIT);
  if (n > 0) return c.on_received({received_.get(), static_cast<std::size_t>(n)});
  nothing_received(c, n);
}

inline void epoll_engine::receive(stream_channel& c) {
  const ssize_t n = system_call::receive(c.handle(), received_.get(), receive_limit(), MSG_DONTWAIT);
  if (n > 0) [[likely]]
    return c.on_received({received_.get(), static_cast<std::size_t>(n)});
  nothing_received(c, n);
}

inline void epoll_engine::nothing_received(stream_channel& c, ssize_t result) {
  if (system_call::is_for_now(result)) return;
  c.on_receive_end(system_call::error_of(result));
  (void)set_interest(c, EPOLLIN, false);  // a no-op if the callback has removed the stream; else the event repeats
}

// Separate, so that ordinary streams need no check for receiving in place. On other events, or without space, the
// stream becomes an ordinary one until it asks again.
[[gnu::noinline]] void epoll_engine::in_place_stream_ready(stream_channel& c, std::uint32_t events) {
  const std::span<char> into = events == EPOLLIN ? c.receive_space() : std::span<char>();
  if (c.handle() < 0) return;
  if (into.empty()) {
    end_in_place(c);
    return stream_ready(c, events);
  }
  const ssize_t n = system_call::receive(c.handle(), into.data(), into.size(), MSG_DONTWAIT);
  if (n > 0) return c.on_received_in_place(static_cast<std::size_t>(n));
  nothing_received(c, n);
}

void epoll_engine::connect_ready(connect_channel& c) noexcept {
  const int handle = c.handle();
  remove(c);
  c.on_connected(kernel_sockets::finish_connect(handle));
}

engine::send_result epoll_engine::send(stream_channel& c, bytes data) noexcept { return send_now(*this, c, data); }

engine::send_result epoll_engine::send(stream_channel& c, output_pieces pieces) noexcept {
  const ssize_t n = system_call::send(c.handle(), pieces, MSG_DONTWAIT | MSG_NOSIGNAL);
  return end_direct_send(c, size_of(pieces), n);
}

// Converts the result of a system call.
engine::send_result epoll_engine::end_direct_send(stream_channel& c, std::size_t offered, ssize_t n) noexcept {
  send_result sent = result_of_send(n);
  if (sent.error == 0 && sent.bytes < offered) {  // another attempt would return EAGAIN
    sent.error = set_interest(c, EPOLLOUT, true).value();
    blocked_ = true;
  }
  return sent;
}

std::uint32_t epoll_engine::first_interest(const channel& c, const stream_handle& stream) noexcept {
  if (kind_of(c) == kind::connect) return EPOLLOUT;
  if (is_stream(c) && passed_descriptors::must_guard(stream)) return EPOLLIN | guarded;
  return is_shared_listener(c) ? EPOLLIN | EPOLLEXCLUSIVE : EPOLLIN;
}

error_code epoll_engine::watch(channel& c, int handle, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events_for(events);
  event.data.ptr = &c;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, handle, &event) != 0) return system_error_code(errno);
  bind(c, handle);
  interest(c) = events & ~static_cast<std::uint32_t>(EPOLLEXCLUSIVE);
  return {};
}

error_code epoll_engine::add(channel& c, stream_handle&& handle) {
  if (handle.carried()) return system_error_code(EOPNOTSUPP);
  return watch(c, handle.get(), first_interest(c, handle));
}

stream_handle epoll_engine::remove(channel& c) noexcept {
  if (c.handle() >= 0) (void)::epoll_ctl(set_.get(), EPOLL_CTL_DEL, c.handle(), nullptr);
  return unbind(c);
}

// While a stream is not read, its peer's end is reported, once.
error_code epoll_engine::set_reading(channel& c, bool on) noexcept {
  const std::uint32_t now = interest(c);
  if (on) return change_interest(c, (now | EPOLLIN) & ~static_cast<std::uint32_t>(EPOLLET | EPOLLRDHUP));
  if (!(now & EPOLLIN)) return {};
  return change_interest(c, (now & ~static_cast<std::uint32_t>(EPOLLIN)) | (is_stream(c) ? EPOLLRDHUP : 0U));
}

error_code epoll_engine::set_interest(channel& c, std::uint32_t events, bool on) noexcept {
  return change_interest(c, on ? interest(c) | events : interest(c) & ~events);
}

// After a failure the interest is unchanged, as the kernel's is.
error_code epoll_engine::change_interest(channel& c, std::uint32_t wanted) noexcept {
  if (wanted == interest(c) || c.handle() < 0) return {};
  if (kind_of(c) == kind::accept) return hold_listener(c, !(wanted & EPOLLIN));
  epoll_event event{};
  event.events = events_for(wanted);
  event.data.ptr = &c;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_MOD, c.handle(), &event) != 0) return system_error_code(errno);
  interest(c) = wanted;
  return {};
}

bool epoll_engine::is_shared_listener(const channel& c) noexcept {
  return kind_of(c) == kind::accept && static_cast<const accept_channel&>(c).is_shared();
}

// The kernel cannot modify an exclusive watch. To delete a watch needs no resources, so holding never fails.
error_code epoll_engine::hold_listener(channel& c, bool on) noexcept {
  if (!on) return watch(c, c.handle(), first_interest(c, c.handle()));
  (void)::epoll_ctl(set_.get(), EPOLL_CTL_DEL, c.handle(), nullptr);
  interest(c) = 0;
  return {};
}

}  // namespace quintet
