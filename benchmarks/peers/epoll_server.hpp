// SPDX-License-Identifier: BSL-1.0
// epoll_server.hpp: what the hand-written servers on epoll have in common: accepting, and the client of each event.
#pragma once

#include "listen.hpp"
#include "unique_fd.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quintet::bench {

struct epoll_client {
  unique_fd fd;
  std::string unsent;  ///< bytes that the kernel has not accepted
};

/// One thread. `Client` is an epoll_client, or derives from it.
template <class Client>
class epoll_server {
 public:
  /// `interest`: the events of each client that are watched at first.
  epoll_server(const unique_fd& listening, std::uint32_t interest)
      : listening_(listening), interest_(interest), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    control(EPOLL_CTL_ADD, listening_.get(), EPOLLIN);
  }

  /// Calls serve(client, events) for each event of a client, until `stop_fd` is readable; -1: for ever.
  template <class Serve>
  void run(int stop_fd, Serve serve) {
    if (stop_fd >= 0) control(EPOLL_CTL_ADD, stop_fd, EPOLLIN);
    std::array<epoll_event, 512> events;
    for (;;) {
      const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i) {
        const epoll_event& e = events[static_cast<std::size_t>(i)];
        if (e.data.fd == stop_fd) return;
        if (e.data.fd == listening_.get())
          accept_all();
        else
          serve(clients_[static_cast<std::size_t>(e.data.fd)], e.events);
      }
    }
  }

  /// Level-triggered: sends, and keeps the bytes that the kernel does not accept. Then the server reads nothing more
  /// from that client until send_rest() has sent them. Both return false if the connection is lost.
  bool send(Client& c, std::string_view data) const {
    const ssize_t sent = ::send(c.fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(data.size())) return true;
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    c.unsent = data.substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    control(EPOLL_CTL_MOD, c.fd.get(), EPOLLOUT);
    return true;
  }
  bool send_rest(Client& c) const {
    const ssize_t sent = ::send(c.fd.get(), c.unsent.data(), c.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    c.unsent.erase(0, static_cast<std::size_t>(sent));
    if (c.unsent.empty()) control(EPOLL_CTL_MOD, c.fd.get(), EPOLLIN);
    return true;
  }

 private:
  void control(int operation, int fd, std::uint32_t mask) const {
    epoll_event e{};
    e.events = mask;
    e.data.fd = fd;
    ::epoll_ctl(epoll_.get(), operation, fd, &e);
  }

  void accept_all() {
    while (unique_fd fd = accept_from(listening_)) {
      const auto at = static_cast<std::size_t>(fd.get());
      if (clients_.size() <= at) clients_.resize(at + 1);
      control(EPOLL_CTL_ADD, fd.get(), interest_);
      clients_[at].fd = std::move(fd);
    }
  }

  const unique_fd& listening_;
  const std::uint32_t interest_;
  unique_fd epoll_;
  std::vector<Client> clients_;  ///< by descriptor
};

}  // namespace quintet::bench
