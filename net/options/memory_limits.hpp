// SPDX-License-Identifier: BSL-1.0
// memory_limits: how much memory all connections of a server or a client together may take.
#pragma once

#include "socket_options.hpp"

#include <cstddef>

namespace quintet {

struct memory_limits {
  /// Output waiting in all connections together. One that exceeds it ends with errc::output_overflow, unless it keeps
  /// no more than its share of a quarter beyond.
  std::size_t max_output_total = std::size_t{4} << 30U;
  /// The same for unused input, of connections that keep more than 64 KiB: errc::input_overflow.
  std::size_t max_input_total = std::size_t{4} << 30U;
  /// A connection made while at least so many are open gets bounded socket buffers: left to itself the kernel grows
  /// the buffers of a peer that never reads to more than 4 MiB. Buffers that a listener or `connecting` names go first.
  std::size_t tuned_sockets = 64;
  /// Bytes in each direction, where tuned_sockets says so. 0: never bounded.
  int bounded_socket_buffer = 64 * 1024;

  /// [any thread] The buffers of a connection that tuned_sockets bounds.
  [[nodiscard]] constexpr socket_options bounded_buffers() const noexcept {
    return {.send_buffer = bounded_socket_buffer, .receive_buffer = bounded_socket_buffer};
  }
};

/// [any thread] Throws config_error.
void validate(const memory_limits& limits);

}  // namespace quintet
