// SPDX-License-Identifier: BSL-1.0
// odd_server.hpp: a server that answers as a test wants, mostly wrongly.
#pragma once

#include "listen.hpp"
#include "unique_fd.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace quintet::bench {

/// Calls `answer` with what arrived on a connection and sends what it returns, or closes it. One thread, so `answer`
/// may keep state. Ends with the object.
class odd_server {
 public:
  /// Nothing: hang up.
  using answer_function = std::function<std::optional<std::string>(std::string_view)>;

  explicit odd_server(answer_function answer)
      : answer_(std::move(answer)), listening_(listen_on("127.0.0.1", 0)), port_(local_port(listening_)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  std::uint16_t port() const { return port_; }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> wanted{{.fd = listening_.get(), .events = POLLIN, .revents = 0}};
      for (const auto& fd : open_) wanted.push_back({.fd = fd.get(), .events = POLLIN, .revents = 0});
      ::poll(wanted.data(), wanted.size(), 20);
      for (std::size_t i = open_.size(); i-- > 0;) {
        if (wanted[i + 1].revents != 0 && !serve(open_[i])) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      while (unique_fd fd = accept_from(listening_)) open_.push_back(std::move(fd));
    }
  }

  bool serve(const unique_fd& fd) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    const auto reply = answer_({buffer.data(), static_cast<std::size_t>(got)});
    if (!reply) return false;
    return reply->empty() || ::send(fd.get(), reply->data(), reply->size(), MSG_NOSIGNAL) > 0;
  }

  answer_function answer_;
  unique_fd listening_;
  std::uint16_t port_;
  std::vector<unique_fd> open_;
  std::jthread thread_;
};

}  // namespace quintet::bench
