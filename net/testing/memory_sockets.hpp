// SPDX-License-Identifier: BSL-1.0
// memory_sockets: the socket services of a memory_network.
#pragma once

#include "../engine/socket_services.hpp"

namespace quintet::testing {

class memory_network;

/// A part of the network, which owns it. Thread tags as in socket_services.
class memory_sockets final : public socket_services {
 public:
  explicit memory_sockets(memory_network& network) noexcept : net_(network) {}

  int listen(const listen_options& options) override;
  int accept(int listening, error_code& failed) noexcept override;
  int connect(const address& to, error_code& failed, const socket_options& how = {}) noexcept override;
  error_code adopt_stream(stream_handle& stream) noexcept override;
  [[nodiscard]] address local_address(int handle) const override;
  [[nodiscard]] address remote_address(int handle) const override;
  [[nodiscard]] std::size_t unread(int handle) const noexcept override;
  [[nodiscard]] peer_state state_of_peer(int handle) const noexcept override;
  [[nodiscard]] std::size_t unsent(int handle) const noexcept override;
  void reset_when_closed(int handle) noexcept override;

 private:
  void shutdown_send(int handle) noexcept override;
  void close(int handle, bool is_ip) noexcept override;

  memory_network& net_;
};

}  // namespace quintet::testing
