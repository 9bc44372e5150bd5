// SPDX-License-Identifier: BSL-1.0
// closed_segments: what a server still holds of closed connections whose clients have not left.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <sys/types.h>

namespace quintet::shm {

class segment_lease;

/// Returns whether the peer has closed its end of a Unix socket, and with it dropped what it had not received: a
/// descriptor in an offer that nobody receives counts for the server's user.
[[nodiscard]] bool has_left(int socket) noexcept;

/// The leases of connections that this process has closed before their clients did, each with its socket. A client that
/// does not leave keeps a descriptor and memory of the server, so clients with many of them are offered nothing more.
class closed_segments {
 public:
  /// Closed connections of one process. (Processes whose ids are equal modulo `processes` count as one.)
  static constexpr std::uint32_t most_of_process = 64;
  /// Closed connections of all processes: as many as may be open, at least so many, or so many if there is no limit.
  static constexpr std::size_t smallest_most = 4 * most_of_process, default_most = 1024;

  /// `max_connections`: of the server; 0: no limit.
  explicit closed_segments(std::size_t max_connections = 0) noexcept
      : most_(max_connections > 0 ? std::max(max_connections, smallest_most) : default_most) {}
  ~closed_segments();
  closed_segments(const closed_segments&) = delete;
  closed_segments& operator=(const closed_segments&) = delete;

  /// [any thread] Returns whether a process may be offered a segment.
  [[nodiscard]] bool admits(pid_t process) noexcept;
  /// [any thread] Keeps a lease that has a socket until the peer has left.
  void keep(std::unique_ptr<segment_lease> closed) noexcept;
  /// [any thread] Destroys the leases whose peers have left, of the next `most_in_sweep` ones.
  void sweep() noexcept;
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  static constexpr std::size_t processes = 251;
  static constexpr std::size_t most_in_sweep = 64;  // bounds what one call of a client that leaves nothing costs
  [[nodiscard]] std::uint32_t& count_of(pid_t process) noexcept {
    return of_process_[static_cast<std::size_t>(process) % processes];
  }

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unique_ptr<segment_lease> first_;  // the next to be asked
  segment_lease* last_ = nullptr;
  std::size_t count_ = 0;
  std::array<std::uint32_t, processes> of_process_{};
};

}  // namespace quintet::shm
