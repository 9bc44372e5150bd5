// SPDX-License-Identifier: BSL-1.0
// peers: blocking socket calls with a timeout of one minute.
#include "peers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace example::test {
namespace {

constexpr int patience_ms = 60'000;

[[noreturn]] void give_up(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void wait_for(int fd, short what) {
  pollfd one{fd, what, 0};
  const int ready = ::poll(&one, 1, patience_ms);
  if (ready == 0) errno = ETIMEDOUT;
  if (ready <= 0) give_up("poll");
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

std::uint16_t port_of(int fd) {
  sockaddr_in a{};
  socklen_t size = sizeof a;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) != 0) give_up("getsockname");
  return ntohs(a.sin_port);
}

quintet::file_descriptor open_socket() {
  quintet::file_descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) give_up("socket");
  return fd;
}

}  // namespace

peer::peer(quintet::file_descriptor fd) : fd_(std::move(fd)) {}

peer peer::connected_to(std::uint16_t port) {
  quintet::file_descriptor fd = open_socket();
  const sockaddr_in to = loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) give_up("connect");
  return peer(std::move(fd));
}

bool peer::send(std::string_view data, const std::function<void()>& overflow_policy) {
  while (!data.empty()) {
    const ssize_t n = ::send(fd_.get(), data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      data.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (overflow_policy) overflow_policy();
      wait_for(fd_.get(), POLLOUT);
    } else {
      return false;
    }
  }
  return true;
}

std::string peer::receive_some(std::size_t most) {
  wait_for(fd_.get(), POLLIN);
  std::string got(most, '\0');
  const ssize_t n = ::recv(fd_.get(), got.data(), got.size(), 0);
  got.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return got;
}

std::string peer::receive(std::size_t count) {
  std::string all;
  while (all.size() < count) {
    const std::string some = receive_some(count - all.size());
    if (some.empty()) break;
    all += some;
  }
  return all;
}

std::string peer::receive_rest() {
  std::string all;
  for (std::string some; !(some = receive_some(64 * 1024)).empty();) all += some;
  return all;
}

void peer::finish_sending() { (void)::shutdown(fd_.get(), SHUT_WR); }

void peer::await_reset() const { wait_for(fd_.get(), 0); }

std::uint16_t peer::port() const { return port_of(fd_.get()); }

listening::listening() : fd_(open_socket()) {
  const sockaddr_in at = loopback(0);
  if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(fd_.get(), 128) != 0)
    give_up("listen");
  port_ = port_of(fd_.get());
}

peer listening::accept() {
  wait_for(fd_.get(), POLLIN);
  quintet::file_descriptor fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd) give_up("accept");
  return peer(std::move(fd));
}

}  // namespace example::test
