// SPDX-License-Identifier: BSL-1.0
// endpoint: one process's end of a connection over shared memory, and the table of ends that no engine serves.
#pragma once

#include "segment.hpp"

#include <cstdint>
#include <map>
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

/// A connection's handle is its socket. On its way from an acceptor or a connector to a loop, or between two loops, the
/// endpoint waits here. The key is the kernel's number of the socket (SO_COOKIE), so it holds in all tables of
/// descriptors. Functions: [any thread].
class parked_endpoints {
 public:
  /// An endpoint outside the table. Empty, or it can be put back without an allocation.
  using entry = std::map<std::uint64_t, endpoint>::node_type;

  /// Makes an entry for put_back(). Throws boost::system::system_error if `socket` is not open, and std::bad_alloc.
  [[nodiscard]] static entry make(int socket, segment&& memory);
  /// Keeps the endpoint of a socket until take().
  static void put_back(entry&& made) noexcept;
  /// Makes an entry and keeps it. Throws as make().
  static void put(int socket, segment&& memory) { put_back(make(socket, std::move(memory))); }
  /// Returns an empty entry if the socket has no endpoint here. Costs one load while the table is empty.
  [[nodiscard]] static entry take(int socket) noexcept;
  [[nodiscard]] static std::size_t size() noexcept;
};

}  // namespace quintet::shm
