// SPDX-License-Identifier: BSL-1.0
// running_echo.hpp: an echo server on a thread of its own, for the length of a test.
#pragma once

#include "peers/peer_server.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>

namespace quintet::bench {

class running_echo {
 public:
  /// `peer`: a name in the table of peers.
  explicit running_echo(std::string_view peer)
      : echo_(require_peer(peer).make({.address = "127.0.0.1"})), thread_([this] { echo_->run(); }) {}
  ~running_echo() { echo_->stop(); }
  std::uint16_t port() const { return echo_->port(); }

 private:
  std::unique_ptr<peer_server> echo_;
  std::jthread thread_;
};

}  // namespace quintet::bench
