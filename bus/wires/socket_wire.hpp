// SPDX-License-Identifier: BSL-1.0
// socket_wire: a wire over a connection, with or without shared memory.
#pragma once

#include "../../net/connection/connection.hpp"
#include "wire.hpp"

#include <cstddef>
#include <memory>

namespace quintet::bus {

/// Owned by the connection's handler. It never pauses its input for its output: two nodes that send much to each other
/// would both wait for the other to read. So it asks for when_sent(), not for writable().
class socket_wire final : public wire {
 public:
  using wire::wire;
  void on_open(connection& c);
  void on_input(connection& c, bytes in);
  void on_close() noexcept { ended(); }

 private:
  struct release {
    void operator()(socket_wire* w) const noexcept { w->at_hand_ = nullptr; }
  };
  /// The connection is at hand while the result exists.
  [[nodiscard]] std::unique_ptr<socket_wire, release> at_hand(connection& c) noexcept {
    at_hand_ = &c;
    return std::unique_ptr<socket_wire, release>(this);
  }
  bool write(bytes data) override { return note(at_hand_ && at_hand_->write(data), data.size()); }
  bool write_chunk(const shared_bytes& data) override { return note(at_hand_ && at_hand_->write(data), data->size()); }
  bool note(bool is_written, std::size_t size) noexcept {
    in_window_ += is_written ? size : 0;
    return is_written;
  }
  [[nodiscard]] bool can_write() override;
  void push() override { at_hand_->flush(); }
  void schedule_flush() override;
  void shut() noexcept override;

  connection_id id_;
  connection_registry* registry_ = nullptr;
  connection* at_hand_ = nullptr;  // during a call of the handler
  std::size_t in_window_ = 0;      // bytes written since all output had left
  bool waits_ = false;             // for all output to leave
};

/// The handler of a bus connection. It uses all input: the wire keeps the beginning of a frame, so that the connection
/// need not copy each batch behind it.
struct wire_handler {
  std::unique_ptr<socket_wire> to;

  void on_open(connection& c) { to->on_open(c); }
  void operator()(connection& c, bytes in) { to->on_input(c, in); }
  void on_close(connection& /*c*/, error_code /*why*/) noexcept { to->on_close(); }
};

}  // namespace quintet::bus
