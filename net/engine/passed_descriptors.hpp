// SPDX-License-Identifier: BSL-1.0
// passed_descriptors: Unix sockets whose peers pass descriptors (SCM_RIGHTS) that nobody wants.
//
// Closing the last descriptor of a file can take long: a TCP socket with SO_LINGER and unsent bytes waits for its peer,
// a file of FUSE for its server. A peer that passes such a descriptor must not stop the thread that drops it. Since
// Linux 6.16 a socket refuses descriptors: the sender gets EPERM. Before, every Unix socket takes them. Then
// descriptors are received and closed by a thread that has nothing else to do. The environment variable
// QUINTET_PASSED_DESCRIPTORS=close selects this way on every kernel.
#pragma once

#include "channel.hpp"

#include <cstddef>

#include <sys/types.h>

namespace quintet::passed_descriptors {

/// [any thread] Makes a Unix socket refuse descriptors, if the kernel can. Sockets that a listening socket accepts
/// inherit that. Call it before the peer can send: descriptors that have arrived stay. No effect on other sockets.
void refuse(int socket) noexcept;
/// [any thread] Ends refuse(). For the socket of one expected descriptor, and to mark a socket that already has some.
void allow(int socket) noexcept;
/// [any thread] Returns whether descriptors can arrive at the handle. False if it is no Unix socket.
[[nodiscard]] bool can_arrive(int handle) noexcept;
/// [loop] Makes a stream's handle refuse descriptors from now on. Returns true if some can arrive all the same, because
/// the kernel is old or bytes have arrived before: then use receive().
[[nodiscard]] bool must_guard(const stream_handle& stream) noexcept;

/// [any thread] Receives as recv does, but returns an error as the kernel does: as -errno. If descriptors have arrived,
/// closes them in the background and returns -EPROTO: the peer does what no honest client of this library does.
[[nodiscard]] ssize_t receive(int socket, void* into, std::size_t size, int flags) noexcept;
/// [any thread] Closes a descriptor that a peer has passed, on another thread. If memory or threads are short, or many
/// wait, closes it here.
void close_in_background(int descriptor) noexcept;
/// [any thread] Closes any handle. If it is a Unix socket at which descriptors wait, ends the connection, and leaves
/// the rest to another thread. A listening socket is closed here, with the connections in its backlog.
void close_socket(int handle) noexcept;
/// [any thread] Returns whether bytes, and perhaps descriptors, wait to be received.
[[nodiscard]] bool has_unread(int socket) noexcept;

constexpr std::size_t most_in_one_message = 253;  ///< SCM_MAX_FD of the kernel

/// Owns a socket, and closes it by close_socket().
class owned_socket {
 public:
  owned_socket() noexcept = default;
  explicit owned_socket(int handle) noexcept : handle_(handle) {}
  owned_socket(owned_socket&& other) noexcept : handle_(other.release()) {}
  owned_socket& operator=(owned_socket&& other) noexcept {
    const int mine = handle_;
    handle_ = other.handle_;
    other.handle_ = mine;
    return *this;
  }
  ~owned_socket() {
    if (handle_ >= 0) close_socket(handle_);
  }
  [[nodiscard]] int get() const noexcept { return handle_; }
  [[nodiscard]] int release() noexcept {
    const int mine = handle_;
    handle_ = -1;
    return mine;
  }
  explicit operator bool() const noexcept { return handle_ >= 0; }

 private:
  int handle_ = -1;
};

}  // namespace quintet::passed_descriptors
