// SPDX-License-Identifier: BSL-1.0
// loopback_listener: a listening TCP socket of a test, at a port of 127.0.0.1 that the kernel picks.
#pragma once

#include "unique_fd.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace quintet::bench {

class loopback_listener {
 public:
  /// Throws std::system_error.
  loopback_listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* generic = reinterpret_cast<sockaddr*>(&name);
    if (!fd_ || ::bind(fd_.get(), generic, size) != 0 || ::listen(fd_.get(), 4096) != 0 ||
        ::getsockname(fd_.get(), generic, &size) != 0)
      throw std::system_error(errno, std::system_category(), "cannot listen on 127.0.0.1");
    at_ = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// "127.0.0.1:40000"
  [[nodiscard]] const std::string& at() const noexcept { return at_; }

 private:
  unique_fd fd_;
  std::string at_;
};

}  // namespace quintet::bench
