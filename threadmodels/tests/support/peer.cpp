// SPDX-License-Identifier: BSL-1.0
// peer: plain sockets and poll.
#include "peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

void require(bool succeeded, const char* what) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

peer::peer(std::uint16_t port, int receive_buffer, std::function<bool()> give_up)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), give_up_(std::move(give_up)) {
  require(fd_ >= 0, "peer: socket");
  if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const timeval patience{peer_patience.count(), 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const sockaddr_in to = loopback(port);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return;
  const bool refused = errno == ECONNREFUSED || errno == ECONNRESET;
  const int error = errno;
  close();
  if (!refused) throw std::system_error(error, std::generic_category(), "peer: connect");
}

peer::peer(peer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)), give_up_(std::move(other.give_up_)) {}

peer::~peer() { close(); }

void peer::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void peer::finish_sending() {
  if (fd_ >= 0) ::shutdown(fd_, SHUT_WR);
}

bool peer::send(std::string_view data) {
  while (fd_ >= 0 && !data.empty()) {
    const ssize_t n = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (n > 0) {
      data.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      throw std::runtime_error("stall: the server takes no more input");
    } else if (errno != EINTR) {
      close();
    }
  }
  return fd_ >= 0;
}

bool peer::receive_more(std::string_view wanted) {
  const auto deadline = std::chrono::steady_clock::now() + peer_patience;
  while (fd_ >= 0) {
    pollfd p{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&p, 1, give_up_ ? 10 : 1000) > 0) {
      std::array<char, 65536> into;
      const ssize_t n = ::recv(fd_, into.data(), into.size(), 0);
      if (n > 0) {
        buffer_.append(into.data(), static_cast<std::size_t>(n));
        return true;
      }
      if (n == 0 || errno != EINTR) close();
    } else if (give_up_ && give_up_()) {
      close();
    } else if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("stall: waited for '" + std::string(wanted.substr(0, 40)) + "', got '" +
                               buffer_.substr(0, 40) + "'");
    }
  }
  return false;
}

std::optional<std::string> peer::receive(std::size_t count) {
  while (buffer_.size() < count)
    if (!receive_more("bytes")) return std::nullopt;
  std::string got = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return got;
}

std::optional<std::string> peer::line() {
  std::size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos)
    if (!receive_more("a line")) return std::nullopt;
  std::string got = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return got;
}

bool peer::expect(std::string_view text) {
  while (buffer_.size() < text.size()) {
    if (receive_more(text)) continue;
    buffer_.clear();  // a partial answer
    return false;
  }
  if (!buffer_.starts_with(text))
    throw std::runtime_error("corrupt: expected '" + std::string(text.substr(0, 40)) + "', got '" +
                             buffer_.substr(0, 40) + "'");
  buffer_.erase(0, text.size());
  return true;
}

void peer::await_end() {
  while (receive_more("the end of the stream")) buffer_.clear();
}

struct upstream_echo::state {
  int listener = -1;
  std::array<int, 2> stop{-1, -1};
  std::thread thread;
};

upstream_echo::upstream_echo() : state_(new state) {
  state_->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  require(::bind(state_->listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "upstream: bind");
  require(::listen(state_->listener, 64) == 0, "upstream: listen");
  require(::getsockname(state_->listener, reinterpret_cast<sockaddr*>(&at), &size) == 0, "upstream: getsockname");
  require(::pipe(state_->stop.data()) == 0, "upstream: pipe");
  port_ = ntohs(at.sin_port);
  state_->thread = std::thread([this] { run(); });
}

upstream_echo::~upstream_echo() {
  ::close(state_->stop[1]);
  state_->thread.join();
  ::close(state_->stop[0]);
  ::close(state_->listener);
  delete state_;
}

void upstream_echo::run() {
  std::array<pollfd, 64> watched{};
  watched[0] = {.fd = state_->stop[0], .events = POLLIN, .revents = 0};
  watched[1] = {.fd = state_->listener, .events = POLLIN, .revents = 0};
  std::size_t count = 2;
  std::array<char, 4096> data;
  while (::poll(watched.data(), count, -1) >= 0 && watched[0].revents == 0) {
    for (std::size_t i = 2; i < count; ++i) {
      if (watched[i].revents == 0) continue;
      const ssize_t n = ::recv(watched[i].fd, data.data(), data.size(), MSG_DONTWAIT);
      if (n > 0) {
        (void)!::send(watched[i].fd, data.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL);
      } else {
        ::close(watched[i].fd);
        watched[i--] = watched[--count];
      }
    }
    if (watched[1].revents != 0 && count < watched.size())
      watched[count++] = {
          .fd = ::accept4(state_->listener, nullptr, nullptr, SOCK_CLOEXEC), .events = POLLIN, .revents = 0};
  }
  for (std::size_t i = 2; i < count; ++i) ::close(watched[i].fd);
}

}  // namespace quintet::test
