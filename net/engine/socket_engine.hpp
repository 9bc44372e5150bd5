// SPDX-License-Identifier: BSL-1.0
// socket_engine: what all engines for sockets of the kernel have in common: its services, and how a turn accepts.
#pragma once

#include "engine.hpp"
#include "kernel_sockets.hpp"
#include "system_call.hpp"

namespace quintet {
namespace detail {

/// A base, so that it is there before the engine's own constructor refers to it, and goes after it.
struct own_kernel_sockets {
  kernel_sockets kernel;
};

}  // namespace detail

class socket_engine : private detail::own_kernel_sockets, public engine {
 protected:
  explicit socket_engine(const engine_capabilities& can, engine_embedding* embedded = nullptr) noexcept
      : engine(can, kernel, embedded) {}

  /// Of a send that does not wait. Nothing taken, now or because of a signal, is no error.
  static send_result result_of_send(ssize_t n) noexcept {
    if (n >= 0) return {static_cast<std::size_t>(n)};
    return {0, system_call::is_for_now(n) ? 0 : static_cast<int>(-n)};
  }
  /// Accepts the connections that wait, at most a batch, while the channel's interest is not 0; every error of accept
  /// is survived or reported to the channel. `events`: how many the turn has, or about as many.
  void accept_ready(accept_channel& c, std::size_t events) noexcept;

 private:
  time_point accepted_until_ = time_point::min();  // when accept_ready() returned last
};

}  // namespace quintet
