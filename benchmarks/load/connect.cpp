// SPDX-License-Identifier: BSL-1.0
// connect.cpp: resolving, connecting, closing.
#include "load/connect.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace quintet::bench {
namespace {

constexpr std::uint32_t loopback_network = 0x7f000000;

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

void bind_source(int fd, unsigned source) {
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(loopback_network | source);
  set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);  // connect() knows both ends and chooses the port
  // If it fails, connect() takes the usual source address, which only leaves fewer ports.
  (void)::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from);
}

unique_fd open_socket(const socket_address& to, int flags, unsigned source) {
  unique_fd fd(::socket(to.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd) return fd;
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (source != 0) bind_source(fd.get(), source);
  return fd;
}

socket_address unix_address(const std::string& path) {
  socket_address address;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  path.copy(to.sun_path, sizeof to.sun_path - 1);
  const bool is_abstract = path.front() == '@';
  if (is_abstract) to.sun_path[0] = '\0';
  // The length is part of an abstract address. A path ends with its NUL.
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (is_abstract ? 0 : 1));
  std::memcpy(&address.storage, &to, sizeof to);
  return address;
}

}  // namespace

socket_address resolve(const endpoint& where) {
  if (!where.path.empty()) return unix_address(where.path);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &list);
      error != 0)
    throw std::runtime_error(fmt::format("cannot find the host \"{}\": {}", where.host, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  socket_address address;
  std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
  address.length = list->ai_addrlen;
  return address;
}

bool is_loopback_v4(const socket_address& address) {
  if (address.get()->sa_family != AF_INET) return false;
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  return (ntohl(v4.sin_addr.s_addr) & 0xff000000) == loopback_network;
}

unique_fd start_connect(const socket_address& to, unsigned source) {
  // Where a Unix socket's backlog is full, a non-blocking connect() fails; a blocking one waits for room.
  unique_fd fd = open_socket(to, to.get()->sa_family == AF_UNIX ? 0 : SOCK_NONBLOCK, source);
  if (fd && ::connect(fd.get(), to.get(), to.length) != 0 && errno != EINPROGRESS) {
    const int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

unique_fd connect_blocking(const socket_address& to, int timeout_ms, unsigned source) {
  unique_fd fd = open_socket(to, 0, source);
  if (!fd) return fd;
  const timeval connecting{.tv_sec = 10, .tv_usec = 0};  // SO_SNDTIMEO applies to connect() too
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &connecting, sizeof connecting);
  // After EINTR the kernel continues to connect, and the next call waits for it.
  int error = 0;
  do error = ::connect(fd.get(), to.get(), to.length) == 0 ? 0 : errno;
  while (error == EINTR);
  if (error != 0 && error != EISCONN) {
    fd.reset();
    errno = error == EINPROGRESS || error == EALREADY ? ETIMEDOUT : error;
    return fd;
  }
  const timeval timeout{.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  return fd;
}

int connect_error(const unique_fd& fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

void close_with_reset(unique_fd& fd) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd.reset();
}

}  // namespace quintet::bench
