// SPDX-License-Identifier: BSL-1.0
// peer_group.hpp: peers that send one request and stay. Several threads share them if one descriptor table is too
// small.
#pragma once

#include "load/control.hpp"
#include "stress/asking.hpp"
#include "stress/scenario.hpp"

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace quintet::bench {

/// All peers together. Call the functions in their order, once each. They throw failures of the threads.
class peer_group {
 public:
  /// `tables` is the number of threads that share the peers, each with a descriptor table of its own. With one, all
  /// peers are in this process's table.
  peer_group(const stress_run& run, const socket_address& to, unsigned peers, unsigned tables);
  peer_group(const peer_group&) = delete;
  peer_group& operator=(const peer_group&) = delete;
  ~peer_group();

  /// Connects every peer and sends a request. Waits until each is answered or closed, at most for `patience`.
  void connect_and_ask(std::chrono::nanoseconds patience);
  /// Watches for `length` whether the server closes a peer.
  void watch(std::chrono::nanoseconds length);
  /// Closes all peers with a reset.
  void reset();

  [[nodiscard]] std::size_t count(fate f) const { return counts_[static_cast<std::size_t>(f)]; }

 private:
  void work(const socket_address& to, unsigned peers, bool own_table);
  void run_peers(const socket_address& to, unsigned peers);
  void meet();

  const stress_run& run_;
  std::chrono::nanoseconds patience_{}, length_{};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::array<std::size_t, 4> counts_{};
  bool have_left_ = false;
  std::barrier<> meeting_;
  std::vector<std::jthread> threads_;
};

}  // namespace quintet::bench
