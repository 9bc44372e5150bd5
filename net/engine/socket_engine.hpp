// SPDX-License-Identifier: BSL-1.0
// socket_engine: the common base of the engines for kernel sockets: their services, and accepting in batches.
#pragma once

#include "engine.hpp"
#include "kernel_sockets.hpp"
#include "system_call.hpp"

namespace quintet {
namespace detail {

/// A base class, so that the services are constructed before the engine and destroyed after it.
struct own_kernel_sockets {
  kernel_sockets kernel;
};

}  // namespace detail

class socket_engine : private detail::own_kernel_sockets, public engine {
 protected:
  explicit socket_engine(const engine_capabilities& can, engine_embedding* embedded = nullptr) noexcept
      : engine(can, kernel, embedded) {}

  /// Converts the result of a non-blocking send. EAGAIN and EINTR are no errors.
  static send_result result_of_send(ssize_t n) noexcept {
    if (n >= 0) return {static_cast<std::size_t>(n)};
    return {0, system_call::is_for_now(n) ? 0 : static_cast<int>(-n)};
  }
  /// [loop] Returns why a handle cannot be watched: bad_file_descriptor, operation_not_permitted (a file or a
  /// directory, as for epoll), or operation_not_supported (it carries a transport). For engines whose system calls
  /// report neither. Tests only the number of a stream's handle: receiving reports the rest, and each connection would
  /// cost a system call more.
  static error_code check_watchable(const channel& c, const stream_handle& handle) noexcept;
  /// [loop] Reports the error of a stream that is not read. Returns whether nothing more can be received. Received
  /// bytes stay in the kernel until reading resumes.
  static bool report_error(stream_channel& c) noexcept;
  /// [loop] Accepts a batch of waiting connections while the channel's interest is not 0. Skips errors of single
  /// connections and reports all others to the channel. `events`: the approximate number of events in this turn.
  void accept_ready(accept_channel& c, std::size_t events) noexcept;

 private:
  time_point accepted_until_ = time_point::min();  // when accept_ready() returned last
};

}  // namespace quintet
