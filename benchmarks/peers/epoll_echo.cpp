// SPDX-License-Identifier: BSL-1.0
// epoll_echo.cpp: a hand-written echo server on level-triggered epoll, the reference for all comparisons.
#include "peers/epoll_server.hpp"
#include "peers/makers.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace quintet::bench {
namespace {

/// For each event it receives once and sends those bytes at once.
class epoll_echo final : public listening_peer {
 public:
  explicit epoll_echo(const peer_options& o)
      : listening_peer(o), server_(listening(), EPOLLIN), buffer_(std::make_unique<char[]>(peer_buffer_bytes)) {}

  void run() override {
    server_.run(stop_fd(), [this](epoll_client& c, std::uint32_t /*events*/) {
      const bool alive = c.unsent.empty() ? serve(c) : server_.send_rest(c);
      if (!alive) c = {};
    });
  }

 private:
  bool serve(epoll_client& c) const {
    const ssize_t got = ::recv(c.fd.get(), buffer_.get(), peer_buffer_bytes, 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    return server_.send(c, {buffer_.get(), static_cast<std::size_t>(got)});
  }

  epoll_server<epoll_client> server_;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace

std::unique_ptr<peer_server> make_epoll_echo(const peer_options& o) { return std::make_unique<epoll_echo>(o); }

}  // namespace quintet::bench
