// SPDX-License-Identifier: BSL-1.0
// forwarding_sockets: the socket services of an engine that serves shared memory beside sockets.
#pragma once

#include "../socket_services.hpp"

namespace quintet::shm {

class engine;

/// Passes all calls on, except the counts of bytes: those of a port lie in its rings, not in its socket.
class forwarding_sockets final : public socket_services {
 public:
  forwarding_sockets(engine& owner, socket_services& inner) noexcept : owner_(owner), inner_(inner) {}

  int listen(const listen_options& options) override { return inner_.listen(options); }
  [[nodiscard]] int largest_backlog() const noexcept override { return inner_.largest_backlog(); }
  error_code steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept override {
    return inner_.steer_by_cpu(handles, cpus);
  }
  [[nodiscard]] int receiving_cpu(int handle) const noexcept override { return inner_.receiving_cpu(handle); }
  void stop_listening(int handle) noexcept override { inner_.stop_listening(handle); }
  int accept(int listening, error_code& failed) noexcept override { return inner_.accept(listening, failed); }
  int connect(const address& to, error_code& failed, const socket_options& how) noexcept override {
    return inner_.connect(to, failed, how);
  }
  error_code adopt_stream(int handle) noexcept override { return inner_.adopt_stream(handle); }
  [[nodiscard]] address local_address(int handle) const override { return inner_.local_address(handle); }
  [[nodiscard]] address remote_address(int handle) const override { return inner_.remote_address(handle); }
  void limit_buffers(int handle, const socket_options& how) noexcept override { inner_.limit_buffers(handle, how); }
  error_code set_busy_poll(int handle, int microseconds) noexcept override {
    return inner_.set_busy_poll(handle, microseconds);
  }
  [[nodiscard]] std::size_t unread(int handle) const noexcept override;
  [[nodiscard]] std::size_t unsent(int handle) const noexcept override;
  void reset_when_closed(int handle) noexcept override { inner_.reset_when_closed(handle); }

 private:
  void shutdown_send(int handle) noexcept override;
  void close(int handle) noexcept override;

  engine& owner_;
  socket_services& inner_;
};

}  // namespace quintet::shm
