// SPDX-License-Identifier: BSL-1.0
// send_now: sends one piece by an engine, without a call where the engine would only make the system call.
#pragma once

#include "system_call.hpp"

#include <sys/socket.h>

namespace quintet {

/// [loop] Does what engine::send() does.
inline engine::send_result send_now(engine& io, stream_channel& c, bytes data) noexcept {
  if (!io.sends_directly()) return io.send(c, data);
  const ssize_t n = system_call::send(c.handle(), data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n == static_cast<ssize_t>(data.size())) [[likely]]
    return {data.size()};
  return io.end_direct_send(c, data.size(), n);
}

}  // namespace quintet
