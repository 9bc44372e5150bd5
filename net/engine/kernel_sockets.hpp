// SPDX-License-Identifier: BSL-1.0
// kernel_sockets: the socket services of the kernel, for every engine that moves bytes of its sockets.
#pragma once

#include "socket_services.hpp"
#include "unix_path.hpp"

#include <map>

namespace quintet {

/// One for each engine, because a handle means something in the descriptor table of the engine's thread only. Connected
/// sockets stay in blocking mode, so that any engine can watch them; MSG_DONTWAIT says it for each call. Thread tags as
/// in socket_services.
class kernel_sockets final : public socket_services {
 public:
  kernel_sockets() = default;

  int listen(const listen_options& options) override;
  [[nodiscard]] int largest_backlog() const noexcept override;
  error_code steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept override;
  [[nodiscard]] int receiving_cpu(int handle) const noexcept override;
  void stop_listening(int handle) noexcept override;
  int accept(int listening, error_code& failed) noexcept override;
  int connect(const address& to, error_code& failed, const socket_options& how = {}) noexcept override;
  [[nodiscard]] address local_address(int handle) const override;
  [[nodiscard]] address remote_address(int handle) const override;
  void bound_buffers(int handle, const socket_options& how) noexcept override;
  error_code set_busy_poll(int handle, int microseconds) noexcept override;
  [[nodiscard]] std::size_t unread(int handle) const noexcept override;
  void reset_when_closed(int handle) noexcept override;

  /// [loop] Whether reset_when_closed() was called for the handle.
  [[nodiscard]] static bool is_to_be_reset(int handle) noexcept;
  /// [loop] How connecting has ended, for a handle that has become writable; puts it into blocking mode.
  [[nodiscard]] static error_code finish_connect(int handle) noexcept;
  /// [loop] The error of a socket for which POLLERR was reported; asking takes the error from the socket. For a stream
  /// that is not read from: a read would say the same. ECONNRESET if the socket names none, or says EPIPE, which is the
  /// kernel's word for a reset after the peer's end.
  [[nodiscard]] static error_code pending_error(int handle) noexcept;
  /// [any thread] Whether an error of accept belongs to the connection that was being accepted, not to the listener.
  /// Some of these are the listener's all the same, such as a security module's refusal: then they come one after the
  /// other.
  [[nodiscard]] static bool is_of_one_connection(int error) noexcept;
  static constexpr int most_failures = 8;  ///< in a row, which are taken for errors of one connection

 private:
  void shutdown_send(int handle) noexcept override;
  void close(int handle) noexcept override;

  std::map<int, unix_path> paths_;  // files of listening Unix sockets, by handle
};

}  // namespace quintet
