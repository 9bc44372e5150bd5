// SPDX-License-Identifier: BSL-1.0
// socket_services: a network's operations on handles: listening, connecting, addresses, options.
#pragma once

#include "../../base/error.hpp"
#include "../options/listen_options.hpp"
#include "channel.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace quintet {

/// The functions of a handle that do not depend on how an engine waits. kernel_sockets implements them for the kernel,
/// memory_sockets for handles in memory. Engines on the same network can watch each other's handles.
/// All functions are [loop] or [before run].
class socket_services {
 public:
  socket_services(const socket_services&) = delete;
  socket_services& operator=(const socket_services&) = delete;

  /// Listens and returns a handle for engine::add(), which the caller owns. The options must be valid. Throws
  /// boost::system::system_error, which names the address.
  virtual int listen(const listen_options& options) = 0;
  /// Returns the maximum backlog, to which the system cuts a larger one; 0: no maximum is known.
  [[nodiscard]] virtual int largest_backlog() const noexcept { return 0; }
  /// Steers the connections that CPU `cpus[n]` receives to the listening socket `handles[n]`. The sockets must share a
  /// port and be in the order in which they began to listen. Returns the reason of a failure.
  virtual error_code steer_by_cpu(std::span<const int> /*handles*/, std::span<const int> /*cpus*/) noexcept {
    return make_error_code(boost::system::errc::operation_not_supported);
  }
  /// Returns the CPU that received the connection's last packet, or -1 if unknown.
  [[nodiscard]] virtual int receiving_cpu(int) const noexcept { return -1; }
  /// Ends listening, even if other descriptors of the same socket are open.
  virtual void stop_listening(int) noexcept {}
  /// Returns how many connections wait to be accepted, or -1 if the system does not tell.
  [[nodiscard]] virtual int waiting(int /*listening*/) const noexcept { return -1; }
  /// Accepts a connection without waiting; returns its handle, which the caller owns. Returns -1 if no connection
  /// waits. Returns -1 and sets `failed` if accepting fails.
  virtual int accept(int listening, error_code& failed) noexcept = 0;
  /// Starts connecting; returns a handle for engine::add(), which the caller owns, or -1 and sets `failed`. Once
  /// connected, any engine of this network can watch the handle as a stream. The options must be valid.
  virtual int connect(const address& to, error_code& failed, const socket_options& how = {}) noexcept = 0;
  /// Takes over a stream that the program has connected: sets what engines assume of its handle, and the fact is_ip.
  /// Returns an error if the handle is no connected stream: bad_file_descriptor, not_a_socket, wrong_protocol_type,
  /// invalid_argument (it listens), or why it is not connected.
  virtual error_code adopt_stream(stream_handle&) noexcept { return {}; }
  /// Returns the address that a handle listens on or is connected from. An IP port is never 0.
  [[nodiscard]] virtual address local_address(int handle) const = 0;
  /// Returns the peer's address, also after the peer has disconnected; of kind none after reset_when_closed().
  [[nodiscard]] virtual address remote_address(int handle) const = 0;
  [[nodiscard]] std::string peer_address(int handle) const { return remote_address(handle).to_string(); }
  /// Returns both addresses.
  [[nodiscard]] virtual connection_ends ends(int handle) const {
    return {remote_address(handle), local_address(handle)};
  }
  /// Returns the kernel's descriptor of a handle; -1 if it has none.
  [[nodiscard]] virtual int descriptor(int /*handle*/) const noexcept { return -1; }
  /// Limits the bytes in flight in each direction to `send_buffer` and `receive_buffer`; 0 keeps the system's value.
  virtual void limit_buffers(int, const socket_options&) noexcept {}
  /// Sets SO_BUSY_POLL of a handle, in microseconds, on kernel sockets only. Returns the reason of a failure.
  virtual error_code set_busy_poll(int, int) noexcept { return {}; }
  enum class peer_state : std::uint8_t {
    connected,
    finished,  ///< it sends no more; received bytes may wait
    closed,    ///< neither side sends any more: it was reset, unless this side has finished
    gone,      ///< the connection was reset
  };
  /// Returns what the system knows of a connected handle's peer.
  [[nodiscard]] virtual peer_state state_of_peer(int) const noexcept { return peer_state::connected; }
  /// Returns how many bytes have arrived and have not been received yet.
  [[nodiscard]] virtual std::size_t unread(int handle) const noexcept = 0;
  /// Returns how many accepted bytes the peer has not taken yet: its kernel's acknowledgements are the measure.
  [[nodiscard]] virtual std::size_t unsent(int) const noexcept { return 0; }
  /// Drops unsent bytes and resets the peer: at once where the network can, also if other processes have the socket;
  /// else when engine::close() is called, which must follow.
  virtual void reset_when_closed(int handle) noexcept = 0;

 protected:
  socket_services() = default;
  virtual ~socket_services() = default;

 private:
  friend class engine;
  // Act at once. Callers use engine::shutdown_send() and engine::close(): the engine may have to send bytes first.
  virtual void shutdown_send(int handle) noexcept = 0;
  virtual void close(int handle, bool is_ip) noexcept = 0;
};

}  // namespace quintet
