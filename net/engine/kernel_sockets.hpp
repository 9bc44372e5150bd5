// SPDX-License-Identifier: BSL-1.0
// kernel_sockets: the socket services of the kernel, for every engine that uses kernel sockets.
#pragma once

#include "socket_services.hpp"
#include "unix_path.hpp"

#include <functional>
#include <map>
#include <vector>

struct tcp_info;

namespace quintet {

/// Each engine has its own, because its thread may have its own descriptor table. Connected sockets stay in blocking
/// mode, so that any engine can watch them; non-blocking calls pass MSG_DONTWAIT. Thread tags as in socket_services.
class kernel_sockets final : public socket_services {
 public:
  kernel_sockets() = default;

  int listen(const listen_options& options) override;
  [[nodiscard]] int largest_backlog() const noexcept override;
  error_code steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept override;
  [[nodiscard]] int receiving_cpu(int handle) const noexcept override;
  void stop_listening(int handle) noexcept override;
  [[nodiscard]] int waiting(int listening) const noexcept override;
  int accept(int listening, error_code& failed) noexcept override;
  int connect(const address& to, error_code& failed, const socket_options& how = {}) noexcept override;
  error_code adopt_stream(stream_handle& stream) noexcept override;
  [[nodiscard]] address local_address(int handle) const override;
  [[nodiscard]] address remote_address(int handle) const override;
  [[nodiscard]] connection_ends ends(int handle) const override;
  [[nodiscard]] int descriptor(int handle) const noexcept override { return handle; }
  void limit_buffers(int handle, const socket_options& how) noexcept override;
  error_code set_busy_poll(int handle, int microseconds) noexcept override;
  [[nodiscard]] peer_state state_of_peer(int handle) const noexcept override;
  [[nodiscard]] std::size_t unread(int handle) const noexcept override { return unread_bytes(handle); }
  [[nodiscard]] std::size_t unsent(int handle) const noexcept override;
  void reset_when_closed(int handle) noexcept override;

  /// [loop] Returns whether reset_when_closed() was called for the handle.
  [[nodiscard]] static bool resets_when_closed(int handle) noexcept;
  /// [any thread] Store what the kernel knows of a TCP connection, and of a Unix socket's peer. Return an error for
  /// sockets of other kinds: operation_not_supported.
  [[nodiscard]] static error_code get_tcp_info(int descriptor, ::tcp_info& to) noexcept;
  [[nodiscard]] static error_code get_credentials(int descriptor, peer_credentials& to) noexcept;
  /// [any thread] Returns whether a Unix socket's peer passes the test. False if the system does not name it.
  [[nodiscard]] static bool is_peer(int handle, const std::function<bool(const peer_credentials&)>& test);
  /// [loop] Returns what unread() returns.
  [[nodiscard]] static std::size_t unread_bytes(int handle) noexcept;
  /// [loop] As reset_when_closed().
  static void reset(int handle) noexcept;
  /// [loop] Returns the result of connecting once the handle is writable. On success, the handle is in blocking mode.
  [[nodiscard]] static error_code finish_connect(int handle) noexcept;
  /// [loop] Clears O_NONBLOCK. The flag belongs to the socket, so a descriptor that comes from Asio may have it.
  [[nodiscard]] static error_code set_blocking(int handle) noexcept;
  /// [loop] Returns and clears a socket's error after POLLERR, ECONNRESET if a send has taken it already. EPIPE is the
  /// kernel's error for a reset after FIN.
  [[nodiscard]] static error_code pending_error(int handle) noexcept;
  /// [any thread] Returns whether an error of accept concerns one connection, not the listener. Some causes concern the
  /// listener all the same, such as a refusing security module. Such errors repeat without a success between them.
  [[nodiscard]] static bool is_connection_error(int error) noexcept;
  static constexpr int max_consecutive_failures = 8;  ///< so many of these errors in a row concern the listener

 private:
  int make_listening(const listen_options& options);
  void shutdown_send(int handle) noexcept override;
  void close(int handle, bool is_ip) noexcept override;

  std::map<int, unix_path> paths_;  // socket files, by listening handle
  std::vector<int> listening_;      // close() must not shut these down: other processes may accept from them
};

}  // namespace quintet
