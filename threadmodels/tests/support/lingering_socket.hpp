// SPDX-License-Identifier: BSL-1.0
// lingering_socket: a descriptor whose last close() waits: a TCP socket with SO_LINGER and unsent bytes.
#pragma once

#include <quintet/net/engine/file_descriptor.hpp>
#include <quintet/net/names/address.hpp>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::test {

/// Returns whether this process's sockets refuse descriptors: the kernel can, and the other way is not selected.
inline bool refuses_descriptors() {
  constexpr int pass_rights = 83;  // SO_PASSRIGHTS
  const file_descriptor s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int off = 0;
  return !::getenv("QUINTET_PASSED_DESCRIPTORS") &&
         ::setsockopt(s.get(), SOL_SOCKET, pass_rights, &off, sizeof off) == 0;
}

class lingering_socket {
 public:
  lingering_socket() {
    const address any("127.0.0.1:0");
    const file_descriptor listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    socklen_t size = sizeof at;
    const int small = 4096;
    (void)::setsockopt(listening.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    check(::bind(listening.get(), any.data(), any.size()) == 0 && ::listen(listening.get(), 1) == 0 &&
          ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0 &&
          ::connect(own_.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
    peer_ = file_descriptor(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    check(::getsockname(own_.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port_ = ntohs(at.sin_port);
    const std::string much(1 << 20, 'x');
    while (::send(own_.get(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
    const linger longer{.l_onoff = 1, .l_linger = 20};
    check(::setsockopt(own_.get(), SOL_SOCKET, SO_LINGER, &longer, sizeof longer) == 0);
  }
  lingering_socket(const lingering_socket&) = delete;
  lingering_socket& operator=(const lingering_socket&) = delete;
  ~lingering_socket() {  // the peer's reset ends the lingering
    peer_.reset();
    if (closing_.joinable()) closing_.join();
  }

  /// Passes the socket to a peer that does not receive yet. Afterwards it has the last descriptor.
  void leave_to(int unix_socket) {
    pass_to(unix_socket);
    if (closing_.joinable()) closing_.join();
  }
  /// Passes the socket over a Unix socket, beside `with`. If the peer is faster, this process closes the last
  /// descriptor.
  void pass_to(int unix_socket, std::string_view with = "x", int times = 1) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> beside{};
    iovec what{.iov_base = const_cast<char*>(with.data()), .iov_len = with.size()};
    msghdr m{};
    m.msg_iov = &what;
    m.msg_iovlen = 1;
    m.msg_control = beside.data();
    m.msg_controllen = CMSG_SPACE(static_cast<std::size_t>(times) * sizeof(int));
    cmsghdr* const h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(static_cast<std::size_t>(times) * sizeof(int));
    const int passed[2] = {own_.get(), own_.get()};
    std::memcpy(CMSG_DATA(h), passed, static_cast<std::size_t>(times) * sizeof(int));
    if (::sendmsg(unix_socket, &m, MSG_NOSIGNAL) < 0) {
      check(errno == EPERM || errno == EPIPE);
      refused_ = true;
      return;
    }
    closing_ = std::thread([fd = own_.release()] { ::close(fd); });
  }
  [[nodiscard]] bool was_refused() const noexcept { return refused_; }
  /// Returns whether close() of the last descriptor has not ended: then the kernel's list has no inode any more. The
  /// kernel can leave a socket out of one list while other sockets come and go.
  [[nodiscard]] bool is_open() const {
    for (int i = 0; i < 20; ++i)
      if (is_listed()) return true;
    return false;
  }

 private:
  [[nodiscard]] bool is_listed() const {
    std::ifstream all("/proc/net/tcp");
    std::string line;
    std::getline(all, line);
    while (std::getline(all, line)) {
      std::istringstream fields(line);
      std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      if (std::stoul(local.substr(local.find(':') + 1), nullptr, 16) == port_ && inode != "0") return true;
    }
    return false;
  }

  static void check(bool done) {
    if (!done) throw std::runtime_error(std::string("lingering_socket: ") + std::strerror(errno));
  }

  file_descriptor own_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, peer_;
  std::thread closing_;
  unsigned port_ = 0;
  bool refused_ = false;
};

}  // namespace quintet::test
