// SPDX-License-Identifier: BSL-1.0
// asking.hpp: one request on each of many connections, and the fate of each.
#pragma once

#include "load/epoll_set.hpp"
#include "load/request_stream.hpp"
#include "stress/scenario.hpp"
#include "unique_fd.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quintet::bench {

/// Size of a request in every scenario; the server's workload is `ask`.
constexpr std::size_t request_bytes = 64;

enum class fate : std::uint8_t { waiting, answered, closed, wrong };

/// Sends a request on each connection, then watches all of them even after their replies: the server must not close
/// any. The caller owns the connections.
class asking {
 public:
  asking(const stress_run& run, const std::vector<unique_fd>& peers);

  /// Watches until `until_decided` connections have a fate other than waiting, or until `length` has passed.
  void listen(std::size_t until_decided, std::chrono::nanoseconds length);

  [[nodiscard]] std::size_t count(fate f) const;
  [[nodiscard]] fate of(std::size_t peer) const { return fates_[peer]; }
  /// Returns the time of the last reply.
  [[nodiscard]] std::uint64_t last_reply_ns() const { return last_reply_ns_; }
  /// Stops watching a connection. Call it before closing one.
  void forget(std::size_t peer) { watched_[peer] = false; }

 private:
  void receive(std::size_t peer);
  void set_fate(std::size_t peer, fate f);

  const stress_run& run_;
  const std::vector<unique_fd>& peers_;
  message_pattern pattern_{request_bytes};
  epoll_set ready_;
  std::vector<fate> fates_;
  std::vector<bool> watched_;
  std::vector<std::uint32_t> received_;
  std::size_t decided_ = 0;
  std::uint64_t last_reply_ns_ = 0;
};

}  // namespace quintet::bench
