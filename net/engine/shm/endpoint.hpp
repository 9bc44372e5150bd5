// SPDX-License-Identifier: BSL-1.0
// endpoint: one process's end of a connection over shared memory, and how it travels with the socket.
#pragma once

#include "../channel.hpp"
#include "segment.hpp"

#include <utility>

#include <sys/types.h>
#include <unistd.h>

namespace quintet::shm {

/// A segment, and this process's positions in its rings. They are never read back from the segment, where the peer can
/// change them.
struct endpoint {
  endpoint() noexcept = default;
  explicit endpoint(segment&& s) noexcept
      : memory(std::move(s)), out(memory.producer()), in(memory.consumer()), process(::getpid()) {}

  /// Ends the stream to the peer. Returns true if the endpoint keeps the socket, and has woken the peer. Otherwise the
  /// caller closes the socket, which wakes the peer. Does nothing in a child of fork(): the stream is the parent's.
  [[nodiscard]] bool close(stream_end how, int socket) noexcept {
    if (process != ::getpid()) return false;
    (void)out.finish(how);
    return memory.leave(socket);
  }

  segment memory;
  ring_producer out;
  ring_consumer in;
  pid_t process = 0;  ///< that made the endpoint
};

/// Wakes the peer of a connection whose socket this is. If the socket's buffer is full, the peer has been woken.
void wake_peer(int socket) noexcept;
/// Takes the peer's wake-ups from the socket, without waiting; one is as good as many. Returns true if the socket has
/// ended: so has the peer, and it writes nothing more to the ring.
[[nodiscard]] bool take_wakes(int socket) noexcept;

/// An endpoint that a connection's socket carries.
struct carried_endpoint final : transport {
  explicit carried_endpoint(segment&& memory) noexcept : transport(&kind_of_all), end(std::move(memory)) {}
  /// Returns nullptr for a stream that is not over shared memory.
  [[nodiscard]] static carried_endpoint* of(const stream_handle& stream) noexcept {
    transport* const carried = stream.carried();
    return carried && carried->kind() == &kind_of_all ? static_cast<carried_endpoint*>(carried) : nullptr;
  }
  endpoint end;

 private:
  static constexpr char kind_of_all = 0;  // its address counts
};

}  // namespace quintet::shm
