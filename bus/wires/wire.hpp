// SPDX-License-Identifier: BSL-1.0
// wire: one connection of a link, as its two ends speak on it; wire_user: what it knows of its link.
#pragma once

#include "../../base/framing/message_buffer.hpp"
#include "../messages/frames.hpp"
#include "../messages/node_context.hpp"
#include "../messages/send_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace quintet::bus {

class wire;

/// The link of a wire: its peer, the messages that it has received, and the queue of those that it sends. The link
/// outlives its wires, or abandons them. All functions: [loop].
class wire_user {
 public:
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const send_queue& out() const noexcept { return out_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  void count_received() noexcept { ++received_; }
  [[nodiscard]] bool is_current(const wire& w) const noexcept { return current_ == &w; }

  /// Returns whether no peer of this link can have sent this hello.
  [[nodiscard]] bool contradicts(const hello& h) const noexcept {
    return h.known_epoch == epoch_ && h.received > out_.last();
  }
  [[nodiscard]] virtual hello make_hello(bus_route route) const noexcept = 0;
  /// The peer's hello has arrived.
  virtual void on_hello(wire& w, const hello& h) = 0;
  /// The peer's start frame has arrived: its next message has this number, which is not 0.
  virtual void on_start(wire& w, std::uint64_t number) = 0;
  /// Returns false if there was no such message.
  [[nodiscard]] virtual bool acknowledged(std::uint64_t number) = 0;
  /// A message for this node or another one; `body` has `r` at its front.
  virtual void routed(const frame_header& h, const routing& r, bytes body) = 0;
  /// The connection has ended; the wire does not call again.
  virtual void on_lost(wire& w) noexcept = 0;

 protected:
  wire_user(node_context& node, std::uint64_t id)
      : id_(id), epoch_(node.random()() | 1U), out_(node.chunks(), node.options().max_unacknowledged) {}
  ~wire_user() = default;

  const std::uint64_t id_;
  // The numbers of messages belong to the link, not to the process: a peer must notice when they begin anew.
  const std::uint64_t epoch_;  // not 0
  send_queue out_;
  std::uint64_t received_ = 0;
  wire* current_ = nullptr;  // the link sends on it
};

/// What the wires of a node share. `accept` returns the link of an accepted wire, or nullptr if the peer is refused.
struct wire_host {
  node_context& node;
  std::function<wire_user*(const hello&)> accept;
};

/// Each side's first frame is its hello, the connecting side's first. Then each side writes a start frame and messages.
/// All functions: [loop].
class wire {
 public:
  /// What this side knows of the peer, by the frames that have arrived:
  ///
  ///     greeting --hello of a new epoch--> answered --start--+
  ///        |                                                 v
  ///        +---------hello--------> sending ----start----> open
  ///
  ///     each of them --wrong frame, abandon(), the connection's end--> closed
  ///
  /// `answered`: the sender of the hello may be dead. The link begins to send when its start has arrived. `sending`:
  /// the link sends, and the peer's start is still to come.
  enum class phase : std::uint8_t { greeting, answered, sending, open, closed };

  /// `of`: the link that connects; nullptr for an accepted connection.
  wire(const wire_host& host, wire_user* of, bus_route route);
  virtual ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  [[nodiscard]] bus_route route() const noexcept { return route_; }
  [[nodiscard]] bool is_dialed() const noexcept { return is_dialed_; }

  /// Asks for the link's queue and acknowledgements to be written soon: once for all requests until then.
  void request_flush() {
    if (flush_due_) return;
    schedule_flush();
    flush_due_ = true;
  }
  /// The link sends on this wire from now on, beginning with the message at `from`.
  void begin_to_send(send_queue::cursor from, std::uint64_t first);
  /// Writes this side's hello.
  void greet() { (void)write(encode(user_->make_hello(route_)).data()); }
  /// Closes the connection once its output has left. Afterwards this wire does not call its link.
  void abandon() noexcept;

 protected:
  // For the classes of each kind of wire. The output is at hand during these calls.
  void opened();
  void received(bytes in);
  /// Writes what request_flush() was called for, or what did not fit before.
  void flush();
  /// The connection has ended. Afterwards this object may be destroyed.
  void ended() noexcept;

  /// Appends to the output. Returns false if the connection has ended.
  virtual bool write(bytes data) = 0;
  /// The same without a copy, if this kind of wire can.
  virtual bool write_chunk(const shared_bytes& data) { return write(*data); }
  /// Returns false if much output waits. request_flush() is then called when it has left.
  [[nodiscard]] virtual bool can_write() = 0;
  /// Sends what was written.
  virtual void push() {}
  virtual void schedule_flush() = 0;
  virtual void shut() noexcept = 0;

  [[nodiscard]] std::size_t kept_bytes() const noexcept { return partial_.size(); }
  /// Returns whether the peer still owes its hello, its start, or the rest of a frame.
  [[nodiscard]] bool is_within_message() const noexcept { return phase_ < phase::open || !partial_.empty(); }
  [[nodiscard]] node_context& node() const noexcept { return node_; }

 private:
  void parse(bytes in);
  void handle_partial();
  void handle(const frame& f);
  void handle_routed(const frame_header& h, bytes body);
  void handle_control(const frame_header& h, bytes body);
  void handle_hello(const hello& h);
  [[nodiscard]] bool accept(std::uint32_t sequence);
  void rewind(std::uint64_t number, bool is_repetition);
  [[nodiscard]] bool write_rest(bytes rest);
  /// Closes the connection because of what the peer has sent.
  void fail(const char* what, error_code why = errc::malformed_message);
  void ask_again(std::uint8_t flags = 0);

  const wire_host& host_;
  node_context& node_;
  wire_user* user_;  // nullptr: the hello has not arrived, or the wire was abandoned
  codec codec_;
  message_buffer partial_{0};      // the beginning of a frame
  std::size_t partial_needs_ = 0;  // bytes of that frame, as far as known
  send_queue::cursor cursor_;
  std::uint64_t asked_ = 0;  // the number of the last resend frame; 0: no frame with a wrong checksum was dropped
  bus_route route_;
  phase phase_ = phase::greeting;
  const bool is_dialed_;
  bool flush_due_ = false;
  bool ack_due_ = false;
};

}  // namespace quintet::bus
