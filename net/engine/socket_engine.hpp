// SPDX-License-Identifier: BSL-1.0
// socket_engine: what all engines for sockets of the kernel have in common: listening, accepting, connecting,
// addresses.
#pragma once

#include "engine.hpp"
#include "system_call.hpp"
#include "unix_path.hpp"

#include <map>

namespace quintet {

/// The sockets stay in blocking mode, so that any engine can adopt them; MSG_DONTWAIT says it for each call.
class socket_engine : public engine {
 public:
  int listen(const listen_options& options) override;
  [[nodiscard]] int largest_backlog() const noexcept override;
  [[nodiscard]] bool can_accept_by(accept_strategy by) const noexcept override {
    return by != accept_strategy::exclusive;
  }
  error_code steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept override;
  [[nodiscard]] int receiving_cpu(int handle) const noexcept override;
  void stop_listening(int handle) noexcept override;
  int connect(const address& to, error_code& failed, const keep_alive_settings& how = {}) noexcept override;
  [[nodiscard]] address local_address(int handle) const override;
  [[nodiscard]] address remote_address(int handle) const override;
  void bound_buffers(int handle, int send, int receive) noexcept override;
  error_code set_busy_poll(int handle, int microseconds) noexcept override;
  void accept_waiting(accept_channel& c, int most) noexcept override;
  void close(int handle) noexcept override;
  void reset_when_closed(int handle) noexcept override;
  void shutdown_send(int handle) noexcept override;
  [[nodiscard]] std::size_t unread(int handle) const noexcept override;

  /// How connecting has ended, for a handle that has become writable; puts it into blocking mode.
  static error_code finish_connect(int handle) noexcept;

 protected:
  static error_code last_error() noexcept;
  /// Of a send that does not wait. Nothing taken, now or because of a signal, is no error.
  static send_result result_of_send(ssize_t n) noexcept {
    if (n >= 0) return {static_cast<std::size_t>(n)};
    return {0, system_call::is_for_now(n) ? 0 : static_cast<int>(-n)};
  }
  /// Whether an error of accept belongs to the connection that was being accepted, not to the listener. Some of these
  /// are the listener's all the same, such as a security module's refusal: then they come one after the other.
  static bool is_of_one_connection(int error) noexcept;
  static constexpr int most_failures = 8;  // in a row, which are taken for errors of one connection
  /// Accepts what is waiting, at most a batch, while the channel's interest is not 0; every error of accept is survived
  /// or reported to the channel. `events`: how many the turn has, or about as many.
  void accept_ready(accept_channel& c, std::size_t events) noexcept;
  enum class attempt { accepted, failed, over };
  attempt accept_one(accept_channel& c, int listening, int failures) noexcept;

 private:
  time_point accepted_until_ = time_point::min();  // when accept_ready() returned last
  std::map<int, unix_path> paths_;                 // files of listening Unix sockets, by handle
};

}  // namespace quintet
