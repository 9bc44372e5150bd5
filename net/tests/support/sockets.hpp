// SPDX-License-Identifier: BSL-1.0
// sockets: helpers of tests: client sockets, unused addresses, scratch directories, exhausted descriptors.
#pragma once

#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/names/address.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>

namespace quintet::testing {

/// Returns a socket that is not connected. Tests need it before they use up all descriptors.
inline file_descriptor socket_for(const address& to) {
  return file_descriptor(::socket(to.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
}
inline bool connect(const file_descriptor& fd, const address& to) {
  return ::connect(fd.get(), to.data(), to.size()) == 0;
}
inline file_descriptor connected_to(const address& to) {
  file_descriptor fd = socket_for(to);
  if (!connect(fd, to)) throw std::runtime_error("cannot connect to " + to.to_string());
  return fd;
}
inline bool can_connect(const address& to) { return connect(socket_for(to), to); }

inline int get_option(int fd, int level, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

/// An address of this test alone: nobody else gets its port while the object lives. Connections are refused unless a
/// server of this test listens there. Without it, the port of a server that has ended would go to the server of another
/// test, or to the connecting socket, which then connects to itself.
class own_address {
 public:
  own_address() : fd_(socket_for(at_)) {
    const int on = 1;  // so that servers, which set it too, can listen beside this socket, which never listens
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(fd_.get(), at_.data(), at_.size()) != 0 ||
        ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
      throw std::runtime_error("cannot bind");
    at_ = address(reinterpret_cast<const sockaddr*>(&bound), size);
  }
  [[nodiscard]] const address& at() const noexcept { return at_; }
  [[nodiscard]] std::string text() const { return at_.to_string(); }

 private:
  address at_{"127.0.0.1:0"};
  file_descriptor fd_;
};

/// Two Unix sockets that are connected to each other.
struct socket_pair {
  socket_pair() {
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) throw std::runtime_error("socketpair");
    here = file_descriptor(both[0]);
    there = file_descriptor(both[1]);
  }
  file_descriptor here, there;
};

/// A temporary directory; the destructor removes it.
class scratch_directory {
 public:
  scratch_directory() {
    std::string name = "/tmp/quintet-test-XXXXXX";
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Uses up the process's descriptors while it lives; `but` descriptors stay available. A lower RLIMIT_NOFILE would not
/// do: a multishot accept of io_uring applies the limit of the time when it began.
class no_descriptors {
 public:
  explicit no_descriptors(std::size_t but = 0) {
    all_.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    while (all_.back()) all_.emplace_back(::fcntl(all_.front().get(), F_DUPFD_CLOEXEC, 0));
    for (std::size_t i = 0; i <= but; ++i) all_.pop_back();
  }

 private:
  std::vector<file_descriptor> all_;
};

}  // namespace quintet::testing
