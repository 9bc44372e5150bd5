// SPDX-License-Identifier: BSL-1.0
// epoll_edge_echo.cpp: a hand-written echo server on edge-triggered epoll. Each descriptor is registered once and read
// until it is empty.
#include "peers/epoll_server.hpp"
#include "peers/makers.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace quintet::bench {
namespace {

class epoll_edge_echo final : public listening_peer {
 public:
  explicit epoll_edge_echo(const peer_options& o)
      : listening_peer(o),
        server_(listening(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET),
        buffer_(std::make_unique_for_overwrite<char[]>(peer_buffer_bytes)) {}

  void run() override {
    server_.run(stop_fd(), [this](epoll_client& c, std::uint32_t events) { serve(c, events); });
  }

 private:
  void serve(epoll_client& c, std::uint32_t happened) const {
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
  static bool send(epoll_client& c, std::string_view data) {
    const ssize_t sent = ::send(c.fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(data.size())) return true;
    if (sent < 0 && errno != EAGAIN)
      c.fd.reset();
    else
      c.unsent = data.substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    return false;
  }

  epoll_server<epoll_client> server_;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace

std::unique_ptr<peer_server> make_epoll_edge_echo(const peer_options& o) {
  return std::make_unique<epoll_edge_echo>(o);
}

}  // namespace quintet::bench
