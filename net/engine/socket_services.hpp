// SPDX-License-Identifier: BSL-1.0
// socket_services: what a network does with a handle, whoever watches it: listening, connecting, addresses, options.
#pragma once

#include "../../base/error.hpp"
#include "../options/listen_options.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace quintet {

/// Functions of a handle that do not depend on how an engine waits. kernel_sockets implements them for the kernel, and
/// memory_network for handles in memory. Engines on the same network can watch each other's handles.
/// [loop], or [before run], unless a function says something else.
class socket_services {
 public:
  socket_services(const socket_services&) = delete;
  socket_services& operator=(const socket_services&) = delete;

  /// Listens; returns a handle for engine::add(), which the caller owns. The options are valid. Throws
  /// boost::system::system_error, which names the address.
  virtual int listen(const listen_options& options) = 0;
  /// The system cuts a larger backlog to this; 0: it takes any.
  [[nodiscard]] virtual int largest_backlog() const noexcept { return 0; }
  /// For listening sockets that share a port, in the order in which they began to listen: the n-th is to get the
  /// connections that the n-th of these CPUs receives. Returns why not.
  virtual error_code steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept;
  /// The CPU that has received a connection's last packet; -1: not known.
  [[nodiscard]] virtual int receiving_cpu(int) const noexcept { return -1; }
  /// Ends listening, even where descriptors of the same socket are still open.
  virtual void stop_listening(int) noexcept {}
  /// Accepts a connection that waits, without waiting for one; returns its handle, which the caller owns. -1: none
  /// waits, or `failed` says why none can be accepted now.
  virtual int accept(int listening, error_code& failed) noexcept = 0;
  /// Begins to connect, which engine::add() watches; returns a handle, which the caller owns, or -1 and the reason.
  /// Once it is connected, any engine of this network can watch it as a stream. The options are valid.
  virtual int connect(const address& to, error_code& failed, const socket_options& how = {}) noexcept = 0;
  /// Where a handle listens, or is connected from; the port is never 0.
  [[nodiscard]] virtual address local_address(int handle) const = 0;
  /// Of kind none when the peer is gone already.
  [[nodiscard]] virtual address remote_address(int handle) const = 0;
  [[nodiscard]] std::string peer_address(int handle) const { return remote_address(handle).to_string(); }
  /// Bounds the bytes in flight in each direction to `send_buffer` and `receive_buffer`; 0 leaves one as it is.
  virtual void bound_buffers(int, const socket_options&) noexcept {}
  /// SO_BUSY_POLL, in microseconds, where there is a kernel: returns why not.
  virtual error_code set_busy_poll(int, int) noexcept { return {}; }
  /// How many bytes have arrived and were not received yet.
  [[nodiscard]] virtual std::size_t unread(int handle) const noexcept = 0;
  /// engine::close() is then to drop what the peer has not taken yet, and to tell the peer by a reset.
  virtual void reset_when_closed(int handle) noexcept = 0;

 protected:
  socket_services() = default;
  ~socket_services() = default;

 private:
  friend class engine;
  // At once. Callers use engine::shutdown_send() and engine::close(), because an engine may hold bytes that must leave
  // first.
  virtual void shutdown_send(int handle) noexcept = 0;
  virtual void close(int handle) noexcept = 0;
};

}  // namespace quintet
