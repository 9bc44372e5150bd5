// SPDX-License-Identifier: BSL-1.0
// listen.cpp: listening sockets and accept.
#include "listen.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace quintet::bench {
namespace {

constexpr int backlog = 1024;

void check(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

unique_fd listen_on(const std::string& address, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  errno = EINVAL;
  check(::inet_pton(AF_INET, address.c_str(), &at.sin_addr) == 1, "cannot parse the address, which must be IPv4");
  unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  check(static_cast<bool>(fd), "socket");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  check(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "bind");
  check(::listen(fd.get(), backlog) == 0, "listen");
  return fd;
}

std::uint16_t local_port(const unique_fd& listening) {
  sockaddr_in at{};
  socklen_t length = sizeof at;
  check(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &length) == 0, "getsockname");
  return ntohs(at.sin_port);
}

unique_fd accept_from(const unique_fd& listening, bool blocking) {
  unique_fd fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK)));
  if (!fd) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace quintet::bench
