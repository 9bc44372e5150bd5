// SPDX-License-Identifier: BSL-1.0
// epoll_echo.cpp: hand-written: accept, receive, send.
#include "peers/epoll_echo.hpp"

#include "peers/listen.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace quintet::bench {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

}  // namespace

epoll_echo::epoll_echo(const std::string& address, std::uint16_t port)
    : listening_peer(address, port),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      buffer_(std::make_unique<char[]>(buffer_bytes)) {
  watch(EPOLL_CTL_ADD, listening().get(), EPOLLIN);
  watch(EPOLL_CTL_ADD, stop_fd(), EPOLLIN);
}

void epoll_echo::watch(int operation, int fd, std::uint32_t mask) const {
  epoll_event e{};
  e.events = mask;
  e.data.fd = fd;
  ::epoll_ctl(epoll_.get(), operation, fd, &e);
}

void epoll_echo::run() {
  std::array<epoll_event, 512> events;
  for (;;) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      const epoll_event& e = events[static_cast<std::size_t>(i)];
      if (e.data.fd == stop_fd()) return;
      if (e.data.fd == listening().get()) {
        accept_all();
        continue;
      }
      peer& p = peers_[static_cast<std::size_t>(e.data.fd)];
      if (!p.unsent.empty())
        send_rest(p);
      else
        serve(p);
    }
  }
}

void epoll_echo::accept_all() {
  while (unique_fd fd = accept_from(listening(), false)) {
    const auto at = static_cast<std::size_t>(fd.get());
    if (peers_.size() <= at) peers_.resize(at + 1);
    watch(EPOLL_CTL_ADD, fd.get(), EPOLLIN);
    peers_[at].fd = std::move(fd);
  }
}

void epoll_echo::serve(peer& p) {
  const ssize_t got = ::recv(p.fd.get(), buffer_.get(), buffer_bytes, 0);
  if (got <= 0) {
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) p.fd.reset();
    return;
  }
  const ssize_t sent = ::send(p.fd.get(), buffer_.get(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
  if (sent == got) return;
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return p.fd.reset();
  const auto taken = static_cast<std::size_t>(sent < 0 ? 0 : sent);
  keep(p, buffer_.get() + taken, static_cast<std::size_t>(got) - taken);
}

void epoll_echo::keep(peer& p, const char* data, std::size_t size) {
  p.unsent.assign(data, size);
  watch(EPOLL_CTL_MOD, p.fd.get(), EPOLLOUT);
}

void epoll_echo::send_rest(peer& p) {
  const ssize_t sent = ::send(p.fd.get(), p.unsent.data(), p.unsent.size(), MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    p.unsent.clear();
    return p.fd.reset();
  }
  p.unsent.erase(0, static_cast<std::size_t>(sent));
  if (p.unsent.empty()) watch(EPOLL_CTL_MOD, p.fd.get(), EPOLLIN);
}

}  // namespace quintet::bench
