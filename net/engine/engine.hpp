// SPDX-License-Identifier: BSL-1.0
// engine: the interface that moves bytes between a loop's connections and the network.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../options/listen_options.hpp"
#include "channel.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace quintet {

class engine_embedding;
class socket_services;

/// The features of an engine and its demands on the loop. They never change.
struct engine_capabilities {
  std::string_view name;  ///< for logs and statistics; static storage duration
  /// send() may wait for the peer. Then each message to the loop needs a wake(), not only one to a sleeping loop.
  bool blocking_send = false;
  bool single_stream = false;  ///< the engine holds one stream at a time, and no other channel
  /// After remove() another engine may watch a stream's handle: this engine buffers no received bytes.
  bool can_detach = false;
  bool needs_prepare = false;     ///< prepare() acquires resources; the loop's thread should call it before poll()
  bool shared_accept = false;     ///< several engines can each accept from a socket of their own at one port
  bool exclusive_accept = false;  ///< several engines can watch one listening socket, and the system wakes one of them

  [[nodiscard]] bool can_accept_by(accept_strategy by) const noexcept {
    if (by == accept_strategy::main_reactor) return !single_stream;
    return by == accept_strategy::exclusive ? exclusive_accept : shared_accept;
  }
};

/// Each loop has one engine. Only wake() and capabilities() may be called from other threads. doc/engines.md
/// shows how to write an engine.
class engine {
 public:
  /// Waits without a time limit.
  static constexpr duration forever = duration::max();
  static constexpr duration longest_wait = std::chrono::hours(24);  ///< maximum of a wait with a time limit
  static constexpr std::size_t receive_size = 64 * 1024;            ///< maximum bytes of one on_received()

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  virtual ~engine() = default;

  /// [any thread] Returns the features of this engine.
  [[nodiscard]] const engine_capabilities& capabilities() const noexcept { return capabilities_; }
  /// [loop] Returns the services of the network to which this engine's handles belong.
  [[nodiscard]] socket_services& sockets() const noexcept { return sockets_; }
  /// [loop] Returns nullptr if no other loop can wait on behalf of this engine.
  [[nodiscard]] engine_embedding* embedding() const noexcept { return embedding_; }
  /// [loop] Bounds one on_received() to `most` bytes, at least 1 and at most receive_size. Call it before prepare().
  void limit_receive(std::size_t most) noexcept { receive_limit_ = std::clamp<std::size_t>(most, 1, receive_size); }

  /// [loop] Acquires the system resources that poll() would otherwise acquire. Throws boost::system::system_error.
  virtual void prepare() {}
  /// [loop] Dispatches ready channels after waiting for at most `longest`, never negative; zero never waits. Returns
  /// whether any were. Does not wait after a callback, which may have posted work to the loop without a wake().
  virtual bool poll(duration longest) = 0;
  /// [any thread] Ends the poll() that waits, or the next one that would wait.
  virtual void wake() noexcept = 0;

  /// [loop] Watches `handle`, whose descriptor the caller keeps. The engine reads a stream from now on, and takes the
  /// transport that it carries. Returns the reason of a failure, after which the caller has all:
  /// operation_not_supported if this engine cannot watch this kind of channel, or does not know the transport.
  virtual error_code add(channel& c, stream_handle&& handle) = 0;
  /// [loop] Stops watching; the handle stays open. Gives back what add() was given, for close() or for another engine's
  /// add(); empty if the channel was not watched.
  virtual stream_handle remove(channel& c) noexcept = 0;
  /// [loop] Stops or resumes reading (a stream) or accepting (a listener). A stopped stream may still deliver bytes
  /// received before; a stopped listener delivers no connection. Returns the reason of a failure, after which nothing
  /// has changed: the owner must end the channel, or try again. Stopping a listener never fails.
  virtual error_code set_reading(channel& c, bool on) noexcept = 0;

  struct send_result {
    std::size_t bytes;  ///< accepted
    int error = 0;      ///< errno: the stream is broken
  };
  /// [loop] Accepts as many bytes as possible now. A partial send has an error, or on_sendable() follows. If accepted
  /// bytes cannot be delivered later, the engine calls on_send_failed(). Received bytes outlive a failed send.
  virtual send_result send(stream_channel& c, output_pieces pieces) noexcept = 0;
  /// [loop] Sends one piece. Nearly every reply is one piece, and an engine can send it with fewer instructions.
  virtual send_result send(stream_channel& c, bytes data) noexcept;
  /// [loop] Converts the result of a system call that was made for a stream that sends_directly().
  virtual send_result end_direct_send(stream_channel&, std::size_t /*offered*/, ssize_t /*result*/) noexcept {
    return {};
  }
  /// [loop] Returns what has arrived at a stream by now. Later has_more() tells whether some of it still waits.
  [[nodiscard]] virtual arrival arrived(stream_channel& c) noexcept;
  /// [loop] Returns whether not all that had arrived `by` that moment has been delivered.
  [[nodiscard]] virtual bool has_more(stream_channel&, const arrival& by) noexcept { return by.delivered < by.mark; }
  /// [loop] Returns whether bytes have arrived that were not delivered yet.
  [[nodiscard]] bool has_unread(stream_channel& c) noexcept { return has_more(c, arrived(c)); }
  /// [loop] Returns how many accepted bytes the peer has not taken yet.
  [[nodiscard]] virtual std::size_t unsent(stream_channel& c) noexcept;
  enum class flush_extent : std::uint8_t {
    output,  ///< gives accepted bytes to the system
    closing  ///< also closes the handles passed to close(), within a time limit that the engine sets
  };
  /// [loop] Completes work that the engine has postponed. Call with `output` before a time without poll(). Call with
  /// `closing` when the loop ends, outside poll().
  virtual void flush(flush_extent) noexcept {}
  /// [loop] Shuts down the sending side after the accepted bytes have been sent.
  virtual void shutdown_send(stream_channel& c) noexcept;
  /// [loop] Closes a handle that is not watched, with its transport. Accepted bytes are sent first, unless
  /// socket_services::reset_when_closed() was called. Nothing is received any more.
  virtual void close(stream_handle&& handle) noexcept;

 protected:
  /// `network` and `embedded` must outlive the engine, or be part of it.
  explicit engine(const engine_capabilities& can, socket_services& network,
                  engine_embedding* embedded = nullptr) noexcept
      : capabilities_(can), sockets_(network), embedding_(embedded) {}

  /// The streams that are bound to this engine, not to one above it, may send by a system call.
  void send_directly() noexcept { sends_directly_ = true; }
  /// Returns the maximum bytes of one on_received().
  [[nodiscard]] std::size_t receive_limit() const noexcept { return receive_limit_; }
  // Access to the fields that an engine keeps in a channel.
  using kind = channel::kind;
  void bind(channel& c, int handle) const noexcept {
    c.handle_ = handle;
    c.sends_directly_ = sends_directly_;
  }
  /// Returns the handle, -1 if no engine watches the channel.
  static int unbind(channel& c) noexcept { return std::exchange(c.handle_, -1); }
  static std::uint32_t& interest(channel& c) noexcept { return c.interest_; }
  static kind kind_of(const channel& c) noexcept { return c.kind_; }
  static bool is_stream(const channel& c) noexcept { return c.kind_ <= kind::in_place_stream; }
  /// Makes the stream an ordinary one: receive_space() was empty.
  static void end_in_place(stream_channel& c) noexcept { static_cast<channel&>(c).kind_ = kind::stream; }

 private:
  const engine_capabilities capabilities_;
  socket_services& sockets_;
  engine_embedding* const embedding_;
  std::size_t receive_limit_ = receive_size;
  bool sends_directly_ = false;
};

/// [any thread] Makes the default engine for kernel sockets; make_engine.hpp makes the others. Throws as make_engine().
std::unique_ptr<engine> make_default_engine();
/// [any thread] Makes the engine of a loop that serves one connection and may block in it (see blocking_engine.hpp).
std::unique_ptr<engine> make_blocking_engine();

}  // namespace quintet
