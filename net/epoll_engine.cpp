// SPDX-License-Identifier: BSL-1.0
// epoll_engine: waiting, receiving and sending on a level-triggered epoll set.
#include <quintet/net/epoll_engine.hpp>

#include <quintet/net/system_call.hpp>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <span>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

constexpr int a_day = 24 * 3600 * 1000;  // in milliseconds: the longest wait that has an end

[[noreturn]] void fail(const char* what) {
  throw boost::system::system_error(error_code(errno, boost::system::system_category()), what);
}

}  // namespace

epoll_engine::epoll_engine()
    : set_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      received_(std::make_unique_for_overwrite<char[]>(receive_size)) {
  if (!set_ || !wake_) fail("cannot make a loop: epoll_create1 or eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) fail("cannot make a loop: epoll_ctl");
}

bool epoll_engine::poll(duration longest) {
  const int count = wait(longest);
  bool dispatched = false;
  for (const epoll_event& event : std::span(ready_.data(), static_cast<std::size_t>(std::max(count, 0)))) {
    if (!event.data.ptr) {
      std::uint64_t ignored = 0;
      (void)!::read(wake_.get(), &ignored, sizeof ignored);
      continue;
    }
    channel& c = *static_cast<channel*>(event.data.ptr);
    if (c.handle() < 0) continue;  // removed by one that was dispatched before it
    dispatch(c, event.events);
    dispatched = true;
  }
  return dispatched;
}

int epoll_engine::wait(duration longest) noexcept {
  // An interrupted wait is a wait that found nothing: the loop looks at its inbox and comes back.
  return system_call::epoll_wait(set_.get(), ready_.data(), batch,
                                 std::min(system_call::to_milliseconds(longest), a_day));
}

void epoll_engine::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);  // fails only when the counter is full, that is, when it is awake
}

void epoll_engine::dispatch(channel& c, std::uint32_t events) {
  switch (kind_of(c)) {
    case kind::stream:
      return stream_ready(static_cast<stream_channel&>(c), events);
    case kind::accept:
      return accept_ready(static_cast<accept_channel&>(c));
    case kind::event:
      return static_cast<event_channel&>(c).on_event();
    case kind::connect:
      return connect_ready(static_cast<connect_channel&>(c));
  }
}

void epoll_engine::stream_ready(stream_channel& c, std::uint32_t events) {
  if (events & EPOLLOUT) {
    blocked_ = false;
    c.on_sendable();
    if (c.handle() < 0) return;
    if (!blocked_) set_interest(c, EPOLLOUT, false);  // afterwards: a send that blocks again costs no epoll_ctl
  }
  // EPOLLHUP and EPOLLERR come unasked; recv tells which error it is. A paused stream learns of it from its next send.
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  if (!(interest(c) & EPOLLIN)) {
    if (events & (EPOLLHUP | EPOLLERR)) c.on_receive_end(error_code(ECONNRESET, boost::system::system_category()));
    return;
  }
  const ssize_t n = system_call::receive(c.handle(), received_.get(), receive_size, MSG_DONTWAIT);
  if (n > 0) return c.on_received({received_.get(), static_cast<std::size_t>(n)});
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const error_code reason = n < 0 ? last_error() : error_code();
  set_interest(c, EPOLLIN, false);
  c.on_receive_end(reason);
}

void epoll_engine::connect_ready(connect_channel& c) noexcept {
  const int handle = c.handle();
  remove(c);
  c.on_connected(finish_connect(handle));
}

std::size_t epoll_engine::send(stream_channel& c, output_pieces pieces, error_code& broken) noexcept {
  ssize_t n = 0;
  do {
    n = system_call::send(c.handle(), pieces, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && errno != EAGAIN) {
    broken = last_error();
    return 0;
  }
  const std::size_t sent = n < 0 ? 0 : static_cast<std::size_t>(n);
  if (sent < size_of(pieces)) [[unlikely]] {  // another try would say EAGAIN
    set_interest(c, EPOLLOUT, true);
    blocked_ = true;
  }
  return sent;
}

error_code epoll_engine::watch(channel& c, int handle, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &c;
  if (::epoll_ctl(set_.get(), EPOLL_CTL_ADD, handle, &event) != 0) return last_error();
  bind(c, handle);
  interest(c) = events;
  return {};
}

void epoll_engine::remove(channel& c) noexcept {
  if (c.handle() < 0) return;
  (void)::epoll_ctl(set_.get(), EPOLL_CTL_DEL, c.handle(), nullptr);
  bind(c, -1);
}

void epoll_engine::set_interest(channel& c, std::uint32_t events, bool on) noexcept {
  const std::uint32_t wanted = on ? interest(c) | events : interest(c) & ~events;
  if (wanted == interest(c) || c.handle() < 0) return;
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &c;
  (void)::epoll_ctl(set_.get(), EPOLL_CTL_MOD, c.handle(), &event);
  interest(c) = wanted;
}

std::unique_ptr<engine> make_default_engine() { return std::make_unique<epoll_engine>(); }

}  // namespace quintet
