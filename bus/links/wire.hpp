// SPDX-License-Identifier: BSL-1.0
// wire: one connection of a link, as its two ends speak on it.
#pragma once

#include "../../base/framing/message_buffer.hpp"
#include "../../net/connection/connection.hpp"
#include "frames.hpp"
#include "send_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quintet::bus {

class link;
class node;

/// Each side's first frame is its hello, the connecting side's first. Then each side writes a start frame and messages.
/// A wire without a link has not seen the hello yet, or was given up. All functions: [loop].
class wire {
 public:
  /// `of`: the link that connects; nullptr for an accepted connection.
  wire(node& owner, link* of, bus_route route);
  virtual ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  [[nodiscard]] bus_route route() const noexcept { return route_; }
  [[nodiscard]] bool is_dialed() const noexcept { return is_dialed_; }

  /// Has the link's queue and acknowledgements written, soon and once for all requests until then.
  void request_flush() {
    if (flush_due_) return;
    schedule_flush();
    flush_due_ = true;
  }
  /// The link sends on this wire from now on, beginning with the message at `from`.
  void begin_to_send(send_queue::cursor from, std::uint64_t first);
  /// Answers the connecting side's hello.
  void answer(const hello& h) { (void)write(encode(h).data()); }
  /// Closes the connection once its output has left. Afterwards this wire does not call its link.
  void abandon() noexcept;

 protected:
  // For the transport. The output is at hand during these calls.
  void opened();
  void received(bytes in);
  /// Writes what request_flush() was called for, or what did not fit before.
  void flush();
  /// The connection has ended. Afterwards the transport may destroy this object.
  void ended() noexcept;

  /// Appends to the output. Returns false if the connection has ended.
  virtual bool write(bytes data) = 0;
  /// The same without a copy, if the transport can.
  virtual bool write_chunk(shared_bytes data) { return write(bytes(*data)); }
  /// Returns false if much output waits. request_flush() is then called when it has left.
  [[nodiscard]] virtual bool can_write() = 0;
  /// Sends what was written.
  virtual void push() {}
  virtual void schedule_flush() = 0;
  virtual void shut() noexcept = 0;

  [[nodiscard]] std::size_t kept_bytes() const noexcept { return partial_.size(); }
  /// Returns whether the peer still owes its hello, its start, or the rest of a frame.
  [[nodiscard]] bool is_within_message() const noexcept { return !is_started_ || !partial_.empty(); }
  [[nodiscard]] node& owner() const noexcept { return node_; }

 private:
  void parse(bytes in);
  void handle(const frame& f);
  void handle_control(const frame_header& h, bytes body);
  void greeted(const hello& h);
  [[nodiscard]] bool accept(std::uint32_t sequence);
  void refuse(std::int32_t ahead);
  void handle_routed(const frame_header& h, bytes body);
  void rewind(std::uint64_t number, bool is_repetition);
  [[nodiscard]] bool write_rest(bytes rest);
  /// Closes the connection because of what the peer has sent.
  void fail(const char* what, error_code why = errc::malformed_message);
  void ask_again(std::uint8_t flags = 0);

  node& node_;
  link* link_;
  codec codec_;
  message_buffer partial_{0};  // the beginning of a frame
  send_queue::cursor cursor_;
  bus_route route_;
  const bool is_dialed_;
  bool flush_due_ = false;
  bool is_greeted_ = false;  // the peer's hello has arrived
  bool is_started_ = false;  // its start frame as well
  bool sends_ = false;       // begin_to_send() was called
  bool ack_due_ = false;
  bool is_closed_ = false;
  std::uint64_t asked_ = 0;  // the number of the last resend frame; 0: no frame with a wrong checksum was dropped
};

/// A wire over a connection, owned by the connection's handler. It never pauses its input for its output: two nodes
/// that send much to each other would both wait for the other to read. So it asks for when_sent(), not for writable().
class socket_wire final : public wire {
 public:
  using wire::wire;
  void on_open(connection& c);
  void on_input(connection& c, bytes in);
  void on_close() noexcept { ended(); }

 private:
  class at_hand;
  bool write(bytes data) override;
  bool write_chunk(shared_bytes data) override;
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
