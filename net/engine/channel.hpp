// SPDX-License-Identifier: BSL-1.0
// channel: an object that an engine watches: a stream, a listener, a handle being connected, or a descriptor.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../../base/memory/byte_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace quintet {

/// Something that an engine watches: a handle (a descriptor, for engines of the kernel) and what to do when it is
/// ready. muduo calls it Channel. A channel belongs to the thread of its engine, and must be removed before it is
/// destroyed. A channel that is removed while the engine dispatches must live until engine::poll() returns
/// (event_loop::defer).
class channel {
 public:
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  /// [loop] -1: it is not watched.
  [[nodiscard]] int handle() const noexcept { return handle_; }

 protected:
  /// in_place_stream: a stream that offers receive_space(). An engine that cannot receive there treats it as a stream.
  enum class kind : std::uint8_t { stream, in_place_stream, accept, event, connect };
  explicit channel(kind k) noexcept : kind_(k) {}
  ~channel() = default;
  void set_kind(kind k) noexcept { kind_ = k; }

 private:
  friend class engine;
  int handle_ = -1;
  std::uint32_t interest_ = 0;  // the engine's own note of what it watches for
  kind kind_;
};

/// A stream of bytes. The engine calls all virtual functions on the loop's thread.
class stream_channel : public channel {
 public:
  /// Bytes have arrived; they are the engine's, and valid until this returns.
  virtual void on_received(bytes arrived) = 0;
  /// Nothing will arrive any more: no error for an orderly end, else the reason. Reading is over.
  virtual void on_receive_end(error_code reason) = 0;
  /// After a send() that took less than it was offered: send() again.
  virtual void on_sendable() = 0;
  /// After receive_in_place(): where the next bytes are to be received. An empty span ends receiving in place: the
  /// bytes go to on_received() again. The call may remove the stream.
  virtual std::span<char> receive_space() noexcept { return {}; }
  /// So many bytes have arrived in receive_space().
  virtual void on_received_in_place(std::size_t) {}
  /// Asked by an engine with engine_capabilities::blocking_send before a send() that may wait: for how long it may wait
  /// while the peer takes nothing.
  [[nodiscard]] virtual duration longest_send() const noexcept { return duration::max(); }

  /// [loop] The stream waits for much input: from now on an engine that can asks for receive_space() before it
  /// receives, until there is none. An engine may also go on with on_received().
  void receive_in_place() noexcept { set_kind(kind::in_place_stream); }

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
  /// [any thread] Whether other engines watch the same socket: the system should wake only one of them for a
  /// connection.
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

}  // namespace quintet
