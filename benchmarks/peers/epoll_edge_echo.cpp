// SPDX-License-Identifier: BSL-1.0
// epoll_edge_echo.cpp: a hand-written echo server on edge-triggered epoll. Each descriptor is registered once and read
// until it is empty.
#include "peers/listen.hpp"
#include "peers/makers.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

namespace quintet::bench {
namespace {

class epoll_edge_echo final : public listening_peer {
 public:
  epoll_edge_echo(const std::string& address, std::uint16_t port)
      : listening_peer(address, port),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        buffer_(std::make_unique_for_overwrite<char[]>(peer_buffer_bytes)) {
    watch(listening().get(), EPOLLIN);
    watch(stop_fd(), EPOLLIN);
  }

  void run() override {
    std::array<epoll_event, 512> events;
    for (;;) {
      const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i) {
        const epoll_event& e = events[static_cast<std::size_t>(i)];
        if (e.data.fd == stop_fd()) return;
        e.data.fd == listening().get() ? accept_all() : serve(clients_[static_cast<std::size_t>(e.data.fd)], e.events);
      }
    }
  }

 private:
  struct client {
    unique_fd fd;
    std::string unsent;
  };

  void watch(int fd, std::uint32_t mask) const {
    epoll_event e{};
    e.events = mask;
    e.data.fd = fd;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e);
  }

  void accept_all() {
    while (unique_fd fd = accept_from(listening(), false)) {
      const auto at = static_cast<std::size_t>(fd.get());
      if (clients_.size() <= at) clients_.resize(at + 1);
      watch(fd.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
      clients_[at].fd = std::move(fd);
    }
  }

  void serve(client& c, std::uint32_t happened) {
    if (!c.fd || (!c.unsent.empty() && !send(c, std::exchange(c.unsent, {})))) return;
    for (;;) {
      const ssize_t got = ::recv(c.fd.get(), buffer_.get(), peer_buffer_bytes, 0);
      if (got <= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) return c.fd.reset();
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 || !send(c, {buffer_.get(), static_cast<std::size_t>(got)})) return;
      // Short read: the input is empty, and later input raises another edge. The end of the stream does not.
      if (static_cast<std::size_t>(got) < peer_buffer_bytes && (happened & EPOLLRDHUP) == 0) return;
    }
  }

  /// Returns false if the connection is lost, or if bytes are left over for the edge that signals room.
  bool send(client& c, std::string_view data) const {
    const ssize_t sent = ::send(c.fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(data.size())) return true;
    if (sent < 0 && errno != EAGAIN)
      c.fd.reset();
    else
      c.unsent = data.substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    return false;
  }

  unique_fd epoll_;
  std::vector<client> clients_;  ///< by descriptor
  std::unique_ptr<char[]> buffer_;
};

}  // namespace

std::unique_ptr<peer_server> make_epoll_edge_echo(const std::string& address, std::uint16_t port) {
  return std::make_unique<epoll_edge_echo>(address, port);
}

}  // namespace quintet::bench
