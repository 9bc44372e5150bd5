// SPDX-License-Identifier: BSL-1.0
// epoll.cpp: epoll-postgres, a hand-written server on one thread: a receive, what is complete, one send. Its argument
// is a port; a signal ends it.
#include "listen.hpp"
#include "peers/epoll_server.hpp"
#include "peers/postgres/protocol.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

namespace quintet::bench {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

struct client : epoll_client {
  postgres_session session;
  std::string unserved;
};

class server {
 public:
  explicit server(std::uint16_t port) : listening_(listen_on("127.0.0.1", port)) {
    std::printf("listening on 127.0.0.1:%d\n", local_port(listening_));
    std::fflush(stdout);
  }

  void run() {
    epoll_.run(-1, [this](client& c, std::uint32_t /*events*/) {
      const bool alive = c.unsent.empty() ? receive(c) : epoll_.send_rest(c);
      if (!alive) c = {};
    });
  }

 private:
  /// Returns false if the connection is over.
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
    return (replies_.empty() || epoll_.send(c, replies_)) && !c.session.is_over();
  }

  unique_fd listening_;
  epoll_server<client> epoll_{listening_, EPOLLIN};
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(buffer_bytes);
  std::string replies_;
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
