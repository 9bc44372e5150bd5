// SPDX-License-Identifier: BSL-1.0
// epoll_echo.hpp: a hand-written echo server on level-triggered epoll, the reference for all comparisons.
#pragma once

#include "peers/peer_server.hpp"

#include <vector>

namespace quintet::bench {

/// One thread. For each event it receives once and sends those bytes at once. It keeps bytes that the kernel does not
/// accept, and reads nothing more from that peer until they are sent.
class epoll_echo final : public listening_peer {
 public:
  epoll_echo(const std::string& address, std::uint16_t port);
  void run() override;

 private:
  struct peer {
    unique_fd fd;
    std::string unsent;
  };

  void accept_all();
  void serve(peer& p);
  void send_rest(peer& p);
  void keep(peer& p, const char* data, std::size_t size);
  void watch(int operation, int fd, std::uint32_t mask) const;

  unique_fd epoll_;
  std::vector<peer> peers_;  ///< by descriptor
  std::unique_ptr<char[]> buffer_;
};

}  // namespace quintet::bench
