// SPDX-License-Identifier: BSL-1.0
// engine: how bytes move between a loop's connections and the outside; the one seam below the state machines.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../../base/memory/byte_buffer.hpp"
#include "../options/accept_strategy.hpp"
#include "../options/listen_options.hpp"
#include "pieces.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace boost::asio {
class io_context;
}

namespace quintet {

/// Something that an engine watches: a handle (a descriptor, for engines of the kernel) and what to do when it is
/// ready. muduo calls it Channel. A channel belongs to the thread of its engine, and must be removed before it dies;
/// one that is removed while the engine dispatches must live until the engine's poll() returns (event_loop::dispose).
class channel {
 public:
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  [[nodiscard]] int handle() const noexcept { return handle_; }

 protected:
  /// large_stream: a stream for which receive_in_place() was called, where an engine likes to tell it so.
  enum class kind : std::uint8_t { stream, accept, event, connect, large_stream };
  explicit channel(kind k) noexcept : kind_(k) {}
  ~channel() = default;

 private:
  friend class engine;
  int handle_ = -1;             // -1: not watched
  std::uint32_t interest_ = 0;  // the engine's own note of what it watches for
  kind kind_;
};

/// A stream of bytes.
class stream_channel : public channel {
 public:
  /// Bytes have arrived; they are the engine's, and valid until this returns.
  virtual void on_received(bytes arrived) = 0;
  /// Nothing will arrive any more: no error for an orderly end, else the reason. Reading is over.
  virtual void on_receive_end(error_code reason) = 0;
  /// After a send() that took less than it was offered: send() again.
  virtual void on_sendable() = 0;
  /// After engine::receive_in_place(): where the next bytes are to be received at once. Nowhere: on_received() is to
  /// have them, or the stream has just been removed.
  virtual std::span<char> receive_space() noexcept { return {}; }
  /// So many have arrived there.
  virtual void on_received_in_place(std::size_t) {}

 protected:
  stream_channel() noexcept : channel(kind::stream) {}
  ~stream_channel() = default;
};

/// A listening handle.
class accept_channel : public channel {
 public:
  /// A connection was accepted: the receiver owns the handle.
  virtual void on_accepted(int handle) noexcept = 0;
  /// Accepting failed for a reason that will not pass by itself at once (no descriptors, no memory).
  virtual void on_accept_error(error_code reason) noexcept = 0;
  /// Whether other engines watch the same socket: of those that wait, one is to be woken for a connection.
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }

 protected:
  explicit accept_channel(bool shared = false) noexcept : channel(kind::accept), is_shared_(shared) {}
  ~accept_channel() = default;

 private:
  const bool is_shared_;
};

/// A handle that is being connected.
class connect_channel : public channel {
 public:
  /// It is connected, or the reason why not. It is not watched any more, and is still the caller's.
  virtual void on_connected(error_code result) noexcept = 0;

 protected:
  connect_channel() noexcept : channel(kind::connect) {}
  ~connect_channel() = default;
};

/// A descriptor that becomes readable and is read by its owner: an eventfd, a signalfd, a foreign library's socket.
class event_channel : public channel {
 public:
  virtual void on_event() = 0;

 protected:
  event_channel() noexcept : channel(kind::event) {}
  ~event_channel() = default;
};

/// One for each loop. All functions but wake() belong to the loop's thread.
class engine {
 public:
  /// A wait without an end.
  static constexpr duration forever = duration::max();
  static constexpr duration longest_wait = std::chrono::hours(24);  ///< of those that have an end
  static constexpr std::size_t receive_size = 64 * 1024;            ///< bytes that one receive brings at most

  virtual ~engine() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Dispatches what is ready, after waiting for at most `longest` for something to be; zero never waits.
  /// Returns whether anything was dispatched.
  virtual bool poll(duration longest) = 0;
  /// Whether prepare() has to be called on the thread that runs the loop, before poll().
  [[nodiscard]] virtual bool has_to_prepare() const noexcept { return false; }
  /// Acquires what poll() needs of the system and would acquire by itself. Throws boost::system::system_error.
  virtual void prepare() {}
  /// What send() has taken is to leave now: there may be no poll() for a while.
  virtual void flush() noexcept {}
  /// At the end of a loop: what close() was called for is closed when this returns. Outside of poll().
  virtual void finish_closing() noexcept {}
  /// [any thread] Ends a poll() that waits, or the next one that would.
  virtual void wake() noexcept = 0;
  /// Whether a thread that is busy in poll() or elsewhere in the loop may also wait in send(): then wake() must follow
  /// every message to the loop, not only those that find it asleep.
  [[nodiscard]] virtual bool waits_in_send() const noexcept { return false; }
  /// Whether it holds one stream at a time, and nothing else.
  [[nodiscard]] virtual bool is_for_one_stream() const noexcept { return false; }
  /// A descriptor that is readable when poll() has something to dispatch, or -1. With it a foreign event loop can wait
  /// for this engine. It may change between two waits.
  [[nodiscard]] virtual int pollable() noexcept = 0;
  /// What an engine calls before it forgets a descriptor that pollable() may have named: whoever watches it elsewhere
  /// must stop, before the number is closed and means something else.
  void before_pollable_goes(std::function<void()> f) { pollable_goes_ = std::move(f); }
  /// The io_context in which this engine waits, so that its poll() runs the handlers of whoever uses it; or nullptr.
  [[nodiscard]] virtual boost::asio::io_context* context() noexcept { return nullptr; }
  /// When the loop ends: what is outstanding in context() is destroyed, and context() is a fresh one, or nullptr where
  /// there was no memory for it. No channel is watched any more.
  virtual void abandon() noexcept {}

  /// Listens; returns a handle for add(), which the caller owns. The options are valid. Throws
  /// boost::system::system_error, which names the address.
  virtual int listen(const listen_options& options) = 0;
  /// What the system makes of a larger backlog; 0: it takes any.
  [[nodiscard]] virtual int largest_backlog() const noexcept { return 0; }
  /// Whether several engines of this kind can accept by it, each for itself.
  [[nodiscard]] virtual bool can_accept_by(accept_strategy) const noexcept { return false; }
  /// For listening sockets that share a port, in the order in which they began to listen: the n-th is to get what the
  /// n-th of these CPUs receives. Returns why not.
  virtual error_code steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept;
  /// Which CPU has received a connection's last packet; -1: not known.
  [[nodiscard]] virtual int receiving_cpu(int) const noexcept { return -1; }
  /// Nobody listens there any more, even where descriptors of the same socket are still open.
  virtual void stop_listening(int) noexcept {}
  /// Begins to connect, which add() watches; returns a handle, which the caller owns, or -1 and the reason. Once it is
  /// connected, any engine of the same kind of handles can watch it as a stream. The settings are valid.
  virtual int connect(const address& to, error_code& failed, const keep_alive_settings& how = {}) noexcept = 0;
  /// Where a handle listens, or is connected from; the port is never 0.
  [[nodiscard]] virtual address local_address(int handle) const = 0;
  /// Of kind none when the peer is gone already.
  [[nodiscard]] virtual address remote_address(int handle) const = 0;
  [[nodiscard]] std::string peer_address(int handle) const { return remote_address(handle).to_string(); }
  /// Bounds what may be on its way in each direction, in bytes; 0 leaves it as it is.
  virtual void bound_buffers(int handle, int send, int receive) noexcept = 0;
  /// SO_BUSY_POLL, in microseconds, where there is a kernel: returns why not.
  virtual error_code set_busy_poll(int, int) noexcept { return {}; }
  /// What a stream's send() has taken leaves first, and nothing arrives any more.
  virtual void close(int handle) noexcept = 0;
  /// close() is then to drop what the peer has not taken yet, and to tell it so by a reset.
  virtual void reset_when_closed(int handle) noexcept = 0;
  /// Tells the peer that nothing more will be sent.
  virtual void shutdown_send(int handle) noexcept = 0;

  /// How many bytes have arrived and were not received yet.
  [[nodiscard]] virtual std::size_t unread(int handle) const noexcept = 0;
  /// Where send() may wait: for at most so long, while nothing is taken; until the stream is removed.
  virtual void limit_send(duration) noexcept {}

  /// Begins to watch `handle`, which stays the caller's. A stream is read from at once.
  virtual error_code add(stream_channel& c, int handle) = 0;
  virtual error_code add(accept_channel& c, int handle) = 0;
  virtual error_code add(event_channel& c, int handle) = 0;
  virtual error_code add(connect_channel& c, int handle) = 0;
  /// Ends watching; the handle stays open.
  virtual void remove(channel& c) noexcept = 0;
  /// Whether after remove() another engine may watch a stream's handle: this one holds nothing of what has arrived.
  [[nodiscard]] virtual bool lets_go() const noexcept { return false; }
  /// Stops or resumes reading (a stream) or accepting (a listener). What a stream has received before it was stopped
  /// may still come.
  virtual void set_reading(channel& c, bool on) noexcept = 0;
  /// Accepts at once the connections that wait, at most so many, while the channel is watched and not stopped.
  virtual void accept_waiting(accept_channel&, int /*most*/) noexcept {}
  /// The stream waits for much: an engine that can asks it for receive_space() before it receives, until there is none.
  /// It may also go on with on_received(), as this one does.
  virtual void receive_in_place(stream_channel&) noexcept {}
  struct send_result {
    std::size_t bytes;  ///< taken
    int error = 0;      ///< of the system, errno: the stream is broken
  };
  /// Takes as many bytes as it can now. When they are fewer than offered, either there is an error, or on_sendable()
  /// follows. What was taken and cannot leave later on is told by on_receive_end().
  virtual send_result send(stream_channel& c, output_pieces pieces) noexcept = 0;
  /// The same of one piece, as nearly every reply is.
  virtual send_result send(stream_channel& c, bytes data) noexcept;

 protected:
  void pollable_goes() const {
    if (pollable_goes_) pollable_goes_();
  }
  using kind = channel::kind;
  static void bind(channel& c, int handle) noexcept { c.handle_ = handle; }
  static std::uint32_t& interest(channel& c) noexcept { return c.interest_; }
  static kind kind_of(const channel& c) noexcept { return c.kind_; }
  static void set_kind(stream_channel& c, kind k) noexcept { c.kind_ = k; }

 private:
  std::function<void()> pollable_goes_;
};

/// The engine for sockets of the kernel on this platform; engine_kind.hpp has the others by name.
std::unique_ptr<engine> make_default_engine();
/// For a loop that serves one connection and may block in it (see blocking_engine.hpp).
std::unique_ptr<engine> make_blocking_engine();

}  // namespace quintet
