// SPDX-License-Identifier: BSL-1.0
// epoll.cpp: epoll-postgres, a hand-written server on one thread: a receive, what is complete, one send. Its argument
// is a port; a signal ends it.
#include "peers/listen.hpp"
#include "peers/postgres/protocol.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

namespace quintet::bench {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

struct client {
  unique_fd fd;
  postgres_session session;
  std::string unserved, unsent;
};

class server {
 public:
  explicit server(std::uint16_t port)
      : listening_(listen_on("127.0.0.1", port, false)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(EPOLL_CTL_ADD, listening_.get(), EPOLLIN);
    std::printf("listening on 127.0.0.1:%d\n", local_port(listening_));
    std::fflush(stdout);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 512> events;
    for (;;) {
      const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listening_.get())
          accept_all();
        else
          handle(clients_[static_cast<std::size_t>(fd)]);
      }
    }
  }

 private:
  void watch(int operation, int fd, std::uint32_t mask) const {
    epoll_event e{};
    e.events = mask;
    e.data.fd = fd;
    ::epoll_ctl(epoll_.get(), operation, fd, &e);
  }

  void accept_all() {
    while (unique_fd fd = accept_from(listening_, false)) {
      const auto at = static_cast<std::size_t>(fd.get());
      if (clients_.size() <= at) clients_.resize(at + 1);
      watch(EPOLL_CTL_ADD, fd.get(), EPOLLIN);
      clients_[at] = std::make_unique<client>();
      clients_[at]->fd = std::move(fd);
    }
  }

  void handle(std::unique_ptr<client>& c) {
    if (!(c->unsent.empty() ? receive(*c) : send_rest(*c))) c.reset();
  }

  // These return whether the connection lives.
  bool receive(client& c) {
    const ssize_t got = ::recv(c.fd.get(), buffer_.get(), buffer_bytes, 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    std::string_view in(buffer_.get(), static_cast<std::size_t>(got));
    if (!c.unserved.empty()) in = c.unserved += in;
    replies_.clear();
    try {
      const std::size_t taken = c.session.serve(in, replies_);
      if (taken < in.size() || !c.unserved.empty()) c.unserved = std::string(in.substr(taken));
    } catch (const protocol_error& e) {
      std::fprintf(stderr, "epoll-postgres: %s\n", e.what());
      return false;
    }
    return send(c) && !c.session.is_over();
  }

  bool send(client& c) {
    if (replies_.empty()) return true;
    const ssize_t sent = ::send(c.fd.get(), replies_.data(), replies_.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(replies_.size())) return true;
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    c.unsent = replies_.substr(static_cast<std::size_t>(sent < 0 ? 0 : sent));
    watch(EPOLL_CTL_MOD, c.fd.get(), EPOLLOUT);
    return true;
  }

  bool send_rest(client& c) {
    const ssize_t sent = ::send(c.fd.get(), c.unsent.data(), c.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    c.unsent.erase(0, static_cast<std::size_t>(sent));
    if (c.unsent.empty()) watch(EPOLL_CTL_MOD, c.fd.get(), EPOLLIN);
    return true;
  }

  unique_fd listening_, epoll_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(buffer_bytes);
  std::string replies_;
  std::vector<std::unique_ptr<client>> clients_;  // by descriptor
};

}  // namespace
}  // namespace quintet::bench

int main(int argc, char** argv) try {
  std::uint16_t port = 0;
  if (argc != 2 || std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), port).ec != std::errc()) {
    std::fputs("usage: epoll-postgres PORT\n", stderr);
    return 2;
  }
  quintet::bench::server(port).run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "epoll-postgres: %s\n", e.what());
  return 1;
}
