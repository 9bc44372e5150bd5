// SPDX-License-Identifier: BSL-1.0
// closing_stream: how long a closed stream is kept whose last bytes find no room.
#pragma once

#include "../../base/clock.hpp"
#include "socket_services.hpp"

#include <chrono>
#include <cstddef>

namespace quintet {

/// The peer would take a truncated reply for a whole one. So the bytes are kept as long as the peer takes some of them;
/// the stream of a peer that takes none is reset. All functions: [loop].
class closing_stream {
 public:
  static constexpr std::chrono::seconds patience{60};  ///< for a peer that takes nothing
  static constexpr std::chrono::seconds at_end{1};     ///< for all peers together when the loop ends

  /// Begins to wait. `unsent`: the bytes that the peer has not taken.
  void wait(std::size_t unsent) noexcept { unsent_ = unsent; }
  /// Call it after `patience`: returns whether to drop the bytes. Then closing `handle` resets the peer. Otherwise call
  /// wait() again.
  [[nodiscard]] bool gives_up(std::size_t unsent, socket_services& network, int handle) const noexcept {
    if (unsent < unsent_) return false;
    network.reset_when_closed(handle);
    return true;
  }

 private:
  std::size_t unsent_ = 0;
};

}  // namespace quintet
