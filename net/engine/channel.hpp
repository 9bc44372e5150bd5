// SPDX-License-Identifier: BSL-1.0
// channel: an object that an engine watches: a stream, a listener, a handle being connected, or a descriptor. Also
// stream_handle: a stream that none watches.
#pragma once

#include "../../base/clock.hpp"
#include "../../base/error.hpp"
#include "../../base/memory/byte_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <sys/uio.h>

namespace quintet {

struct connection_ends;
struct tls_info;

/// What carries a stream's bytes instead of the plain socket, for instance rings in shared memory. It travels with the
/// socket from loop to loop; the engine that watches the stream has it.
class transport {
 public:
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;
  /// [any thread] Returns what tells the kinds of transport apart: an address that is the kind's own.
  [[nodiscard]] const void* kind() const noexcept { return kind_; }
  /// [loop] Returns what a TLS handshake has found out; null: there was none.
  [[nodiscard]] virtual std::shared_ptr<const tls_info> tls() const noexcept { return nullptr; }

 protected:
  explicit transport(const void* kind) noexcept : kind_(kind) {}

 private:
  const void* const kind_;
};

/// Facts of a stream that travel with it, and that no engine keeps.
struct stream_facts {
  std::shared_ptr<const connection_ends> told;  ///< the addresses that a proxy has told; null: the socket's are right
  bool is_ip = false;         ///< the socket is known to be no Unix socket: nobody needs to ask the kernel
  bool is_connected = false;  ///< a connector has made it: attach() does not check it again
};

/// A descriptor, and the transport that it carries; null: the stream is a bare socket. Only engine::close() closes a
/// stream: destroying this object destroys the transport, and leaves the descriptor open.
class stream_handle {
 public:
  stream_handle() noexcept = default;
  /// A bare one converts: most streams are.
  stream_handle(int descriptor, std::unique_ptr<transport> carried = nullptr) noexcept
      : descriptor_(descriptor), carried_(std::move(carried)) {}
  stream_handle(stream_handle&& other) noexcept
      : descriptor_(other.release()), carried_(std::move(other.carried_)), facts_(std::move(other.facts_)) {}
  stream_handle& operator=(stream_handle&& other) noexcept {
    descriptor_ = other.release();
    carried_ = std::move(other.carried_);
    facts_ = std::move(other.facts_);
    return *this;
  }

  /// [loop] Returns the descriptor, or -1.
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// [loop] Returns nullptr for a bare socket.
  [[nodiscard]] transport* carried() const noexcept { return carried_.get(); }
  /// [loop] Takes the transport out; the descriptor stays.
  [[nodiscard]] std::unique_ptr<transport> take_carried() noexcept { return std::move(carried_); }
  /// [loop] Sets what carries the stream from now on.
  void set_carried(std::unique_ptr<transport> carried) noexcept { carried_ = std::move(carried); }
  /// [loop] Returns the facts, for a new connection.
  [[nodiscard]] const stream_facts& facts() const noexcept { return facts_; }
  [[nodiscard]] stream_facts& facts() noexcept { return facts_; }
  /// [loop] Gives the descriptor to the caller. The transport stays.
  int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
  std::unique_ptr<transport> carried_;
  stream_facts facts_;
};

/// A handle (a descriptor, for kernel engines) and the callbacks for its events; muduo's Channel. A channel belongs to
/// the thread of its engine. The owner must remove the channel before destroying it. A channel removed during dispatch
/// must live until engine::poll() returns (event_loop::defer).
class channel {
 public:
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  /// [loop] Returns -1 if no engine watches the channel.
  [[nodiscard]] int handle() const noexcept { return handle_; }
  /// [loop] Returns whether engine::send() of one piece only makes a system call, if the kernel takes all. send_now()
  /// makes it itself then, and passes any other result, negative for an error, to engine::end_direct_send().
  [[nodiscard]] bool sends_directly() const noexcept { return sends_directly_; }

 protected:
  /// in_place_stream: a stream that offers receive_space(). An engine that cannot use the space treats it as `stream`.
  enum class kind : std::uint8_t { stream, in_place_stream, accept, event, connect };
  explicit channel(kind k) noexcept : kind_(k) {}
  ~channel() = default;
  void set_kind(kind k) noexcept { kind_ = k; }

 private:
  friend class engine;
  int handle_ = -1;
  std::uint32_t interest_ = 0;  // the events that the engine watches for, in the engine's encoding
  kind kind_;
  bool sends_directly_ = false;  // told by the engine that watches the channel
};

/// A stream of bytes. The engine calls all virtual functions on the loop's thread.
class stream_channel : public channel {
 public:
  /// [loop] Called when bytes have arrived. The engine owns `arrived`, which is valid during the call.
  virtual void on_received(bytes arrived) = 0;
  /// [loop] Called when something has arrived that holds no bytes for the stream yet: a part of a record. A drain asks
  /// engine::has_more() again, since it does not wait for the rest.
  virtual void on_received_nothing() {}
  /// [loop] Called when nothing more will arrive. `reason` is no error after an orderly end.
  virtual void on_receive_end(error_code reason) = 0;
  /// [loop] Called after a partial send(), once the stream may send() again.
  virtual void on_sendable() = 0;
  /// [loop] Called when accepted bytes cannot be delivered, or the stream broke while reading was stopped and received
  /// bytes wait for it. send() would fail from now on. Bytes and on_receive_end() still follow, if reading is on.
  virtual void on_send_failed(error_code) {}
  /// [loop] Called at most once for each time that reading is stopped, when the peer has finished sending. Bytes and
  /// on_receive_end() follow, if reading is on. Not every engine can tell (doc/engines.md).
  virtual void on_peer_finished() {}
  /// [loop] Returns the space for the next bytes; called after receive_in_place(). An empty span ends receiving in
  /// place, and bytes go to on_received() again. The call may remove the stream.
  virtual std::span<char> receive_space() noexcept { return {}; }
  /// [loop] Called with the number of bytes that have arrived in receive_space().
  virtual void on_received_in_place(std::size_t) {}
  /// [loop] Returns the maximum wait of one send() while the peer reads nothing. Engines with
  /// engine_capabilities::blocking_send ask before a send() that may wait.
  [[nodiscard]] virtual duration longest_send() const noexcept { return duration::max(); }

  /// [loop] Announces much input: the engine may ask for receive_space() before each receive, until the span is empty.
  /// An engine may also continue with on_received().
  void receive_in_place() noexcept { set_kind(kind::in_place_stream); }

 protected:
  stream_channel() noexcept : channel(kind::stream) {}
  ~stream_channel() = default;
};

/// A listening handle.
class accept_channel : public channel {
 public:
  /// [loop] Called with an accepted connection. The callee owns `handle`.
  virtual void on_accepted(int handle) noexcept = 0;
  /// [loop] Called when accepting failed for a lasting reason, such as no descriptors or no memory.
  virtual void on_accept_error(error_code reason) noexcept = 0;
  /// [any thread] Returns whether other engines watch the same socket. Then the system should wake only one of them.
  [[nodiscard]] bool is_shared() const noexcept { return is_shared_; }
  /// [any thread] Returns whether on_accepted() may stop the channel because a limit is reached. Then an engine must
  /// not accept ahead: each connection that it has accepted holds a descriptor.
  [[nodiscard]] bool is_limited() const noexcept { return is_limited_; }

 protected:
  /// Facts of a listener that the engine needs.
  struct properties {
    bool shared = false, limited = false;
  };
  accept_channel() noexcept : accept_channel(properties()) {}
  explicit accept_channel(properties p) noexcept
      : channel(kind::accept), is_shared_(p.shared), is_limited_(p.limited) {}
  ~accept_channel() = default;

 private:
  const bool is_shared_, is_limited_;
};

/// A handle that is being connected.
class connect_channel : public channel {
 public:
  /// [loop] Called when connecting has succeeded or failed. The engine no longer watches the handle. The caller of
  /// add() still owns the handle.
  virtual void on_connected(error_code result) noexcept = 0;

 protected:
  connect_channel() noexcept : channel(kind::connect) {}
  ~connect_channel() = default;
};

/// A descriptor that its owner reads: an eventfd, a signalfd, a foreign library's socket.
class event_channel : public channel {
 public:
  /// [loop] Called when the descriptor is readable.
  virtual void on_event() = 0;

 protected:
  event_channel() noexcept : channel(kind::event) {}
  ~event_channel() = default;
};

/// What had arrived at a stream by some moment: engine::arrived() and engine::has_more().
struct arrival {
  /// The bytes that waited. A decorator whose bytes differ from those of its inner engine may use another measure.
  std::uint64_t mark = 0;
  std::uint64_t delivered = 0;  ///< bytes that the stream has got since; the stream counts them
};

/// The pieces of one send: at least one, at most IOV_MAX, none empty. The callee may change them.
using output_pieces = std::span<iovec>;

/// Returns the number of bytes in all pieces.
inline std::size_t size_of(std::span<const iovec> pieces) noexcept {
  std::size_t sum = 0;
  for (const iovec& piece : pieces) sum += piece.iov_len;
  return sum;
}

/// Removes the first `count` bytes.
inline void remove_prefix(output_pieces& pieces, std::size_t count) noexcept {
  while (!pieces.empty()) {
    iovec& first = pieces.front();
    const std::size_t here = std::min(count, first.iov_len);
    first.iov_base = static_cast<char*>(first.iov_base) + here;
    first.iov_len -= here;
    count -= here;
    if (first.iov_len > 0) return;
    pieces = pieces.subspan(1);
  }
}

}  // namespace quintet
