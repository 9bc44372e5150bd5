// SPDX-License-Identifier: BSL-1.0
// flood.hpp: a client that opens all its connections at once and sends a request on each as soon as it is established.
#pragma once

#include "load/control.hpp"
#include "load/epoll_set.hpp"
#include "load/request_stream.hpp"
#include "stress/asking.hpp"
#include "unique_fd.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace quintet::bench {

/// Runs in its own thread. Answered connections stay and are
/// watched until leave(). From then on each leaves after its reply.
class flood_client {
 public:
  /// `number` distinguishes clients: each has its own source addresses.
  flood_client(const socket_address& to, unsigned peers, unsigned number);

  void leave() { leaving_ = true; }
  /// answered() counts correct replies so far, including peers that have left. failed() counts peers that were refused,
  /// closed by the server, or got a wrong reply.
  [[nodiscard]] std::size_t answered() const { return answered_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  struct peer {
    unique_fd fd;
    bool is_connected = false, is_answered = false;
    std::uint32_t received = 0;
  };
  void work(const std::stop_token& stop);
  void connect_all(const std::stop_token& stop);
  void poll_events(std::uint64_t ns);
  void handle_event(std::uint32_t index);
  void ask(std::uint32_t index);
  void receive(std::uint32_t index);
  void fail(peer& p);

  const socket_address to_;
  const unsigned number_;
  message_pattern pattern_{request_bytes};
  epoll_set ready_;
  std::vector<peer> peers_;
  std::atomic<bool> leaving_{false};
  std::atomic<std::size_t> answered_{0}, failed_{0};
  std::jthread thread_;
};

}  // namespace quintet::bench
