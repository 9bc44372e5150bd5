// SPDX-License-Identifier: BSL-1.0
// engine: how bytes move between a loop's connections and the outside; the one seam below the state machines.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../options/accept_strategy.hpp"
#include "channel.hpp"
#include "pieces.hpp"
#include "socket_services.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace quintet {

class engine_embedding;

/// What an engine can do, and what it needs of the loop; it never changes.
struct engine_capabilities {
  std::string_view name;  ///< as in logs and statistics; of static storage duration
  /// send() may wait for the peer. Then wake() must follow every message to the loop, not only those that find it
  /// asleep.
  bool blocking_send = false;
  bool single_stream = false;  ///< it holds one stream at a time, and no other channel
  /// After remove() another engine may watch a stream's handle, because this one holds nothing of what has arrived.
  bool can_detach = false;
  bool needs_prepare = false;     ///< prepare() has to be called on the thread that runs the loop, before poll()
  bool shared_accept = false;     ///< each of several engines can accept from its own socket at one port
  bool exclusive_accept = false;  ///< several engines can watch one listening socket, and the system wakes one of them

  [[nodiscard]] bool can_accept_by(accept_strategy by) const noexcept {
    if (by == accept_strategy::main_reactor) return !single_stream;
    return by == accept_strategy::exclusive ? exclusive_accept : shared_accept;
  }
};

/// One for each loop. All functions but wake() belong to the loop's thread. doc/engines.md shows how to write one.
class engine {
 public:
  /// A wait without an end.
  static constexpr duration forever = duration::max();
  static constexpr duration longest_wait = std::chrono::hours(24);  ///< of those that have an end
  static constexpr std::size_t receive_size = 64 * 1024;            ///< bytes that one receive brings at most

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  virtual ~engine() = default;

  /// [any thread]
  [[nodiscard]] const engine_capabilities& capabilities() const noexcept { return capabilities_; }
  /// [loop] Of the network to which this engine's handles belong.
  [[nodiscard]] socket_services& sockets() const noexcept { return sockets_; }
  /// [loop] nullptr: no other loop can wait on behalf of this engine.
  [[nodiscard]] engine_embedding* embedding() const noexcept { return embedding_; }

  /// [loop] Acquires the resources of the system that poll() would acquire by itself. Throws
  /// boost::system::system_error.
  virtual void prepare() {}
  /// [loop] Dispatches what is ready, after waiting for at most `longest` for something to be; zero never waits.
  /// Returns whether anything was dispatched.
  virtual bool poll(duration longest) = 0;
  /// [any thread] Ends a poll() that waits, or the next one that would.
  virtual void wake() noexcept = 0;

  /// [loop] Begins to watch `handle`, which stays the caller's. A stream is read from at once. Returns why not:
  /// operation_not_supported for a kind of channel that this engine cannot watch.
  virtual error_code add(channel& c, int handle) = 0;
  /// [loop] Ends watching; the handle stays open.
  virtual void remove(channel& c) noexcept = 0;
  /// [loop] Stops or resumes reading (a stream) or accepting (a listener). Bytes that a stream has received
  /// before it was stopped may still come; connections may not.
  virtual void set_reading(channel& c, bool on) noexcept = 0;

  struct send_result {
    std::size_t bytes;  ///< taken
    int error = 0;      ///< of the system, errno: the stream is broken
  };
  /// [loop] Takes as many bytes as it can now. If these are fewer than offered, either there is an error, or
  /// on_sendable() follows. If bytes were taken and cannot leave later on, on_receive_end() tells so.
  virtual send_result send(stream_channel& c, output_pieces pieces) noexcept = 0;
  /// [loop] The same of one piece, as nearly every reply is: an engine can do it in fewer instructions.
  virtual send_result send(stream_channel& c, bytes data) noexcept;
  enum class flush_extent : std::uint8_t {
    output,  ///< bytes that send() has taken are given to the system
    closing  ///< and handles that close() was called for are closed, within a time limit of the engine's
  };
  /// [loop] Finishes what the engine has taken and put off, when this returns. `output`: there may be no poll() for a
  /// while. `closing`: the loop ends; outside of poll().
  virtual void flush(flush_extent) noexcept {}
  /// [loop] Tells the peer that nothing more will be sent, after what send() has taken.
  virtual void shutdown_send(int handle) noexcept { sockets_.shutdown_send(handle); }
  /// [loop] Closes a handle that is not watched. What send() has taken leaves first, unless
  /// socket_services::reset_when_closed() was called. Nothing arrives any more.
  virtual void close(int handle) noexcept { sockets_.close(handle); }

 protected:
  /// The services and the embedding must outlive the engine, or be part of it.
  explicit engine(const engine_capabilities& can, socket_services& network,
                  engine_embedding* embedded = nullptr) noexcept
      : capabilities_(can), sockets_(network), embedding_(embedded) {}

  // What an engine keeps in a channel.
  using kind = channel::kind;
  static void bind(channel& c, int handle) noexcept { c.handle_ = handle; }
  static std::uint32_t& interest(channel& c) noexcept { return c.interest_; }
  static kind kind_of(const channel& c) noexcept { return c.kind_; }
  static bool is_stream(const channel& c) noexcept { return c.kind_ <= kind::in_place_stream; }
  /// It offers no receive_space() any more.
  static void end_in_place(stream_channel& c) noexcept { static_cast<channel&>(c).kind_ = kind::stream; }

 private:
  const engine_capabilities capabilities_;
  socket_services& sockets_;
  engine_embedding* const embedding_;
};

/// The engine for sockets of the kernel on this platform; engine_kind.hpp has the others by name.
std::unique_ptr<engine> make_default_engine();
/// For a loop that serves one connection and may block in it (see blocking_engine.hpp).
std::unique_ptr<engine> make_blocking_engine();

}  // namespace quintet
