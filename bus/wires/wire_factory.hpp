// SPDX-License-Identifier: BSL-1.0
// wire_factory: makes a node's wires: has the server that accepts connections, and finds nodes of this process by id.
#pragma once

#include "../../net/server/basic_server.hpp"
#include "../../threadmodels/models.hpp"
#include "memory_wire.hpp"
#include "socket_wire.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace quintet::bus {

/// Functions without a tag: [loop].
class wire_factory {
 public:
  /// Listens. Throws config_error (also if the process has a node with this id), and boost::system::system_error (an
  /// address in use).
  wire_factory(node_context& node, std::function<wire_user*(const hello&)> accept);
  ~wire_factory() { close(); }
  wire_factory(const wire_factory&) = delete;
  wire_factory& operator=(const wire_factory&) = delete;

  /// [any thread]
  [[nodiscard]] server_core& server() noexcept { return server_; }
  /// Makes a wire of a connected socket, and assigns it to `made` before it can end. Throws std::bad_alloc; the caller
  /// then still owns the stream.
  void attach(wire_user& of, stream_handle&& stream, bus_route route, wire*& made);
  /// The same to the node of this process with the link's id. Returns false if there is none.
  [[nodiscard]] bool connect_in_process(wire_user& of, wire*& made);
  /// Other nodes of this process do not find this one any more. Ends the connections with them.
  void close() noexcept;

 private:
  void accept_in_process(const std::shared_ptr<memory_pipe>& pipe);
  memory_wire& make(wire_user* of, const std::shared_ptr<memory_pipe>& pipe, unsigned side);

  const wire_host host_;
  std::vector<std::weak_ptr<memory_wire>> memory_wires_;
  basic_server server_;
};

}  // namespace quintet::bus
