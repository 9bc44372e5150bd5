// SPDX-License-Identifier: BSL-1.0
// stream_handle: a stream that no engine watches: its descriptor, and what travels with it.
#pragma once

#include <memory>
#include <utility>

namespace quintet {

/// What carries a stream's bytes instead of the plain socket, for instance rings in shared memory. It travels with the
/// socket from loop to loop; the engine that watches the stream has it.
class transport {
 public:
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;
  /// [any thread] Returns what tells the kinds of transport apart: an address that is the kind's own.
  [[nodiscard]] const void* kind() const noexcept { return kind_; }

 protected:
  explicit transport(const void* kind) noexcept : kind_(kind) {}

 private:
  const void* const kind_;
};

/// A descriptor, and the transport that it carries; null: the stream is a bare socket. Only engine::close() closes a
/// stream: destroying this object destroys the transport, and leaves the descriptor open.
class stream_handle {
 public:
  stream_handle() noexcept = default;
  /// A bare one converts: most streams are.
  stream_handle(int descriptor, std::unique_ptr<transport> carried = nullptr) noexcept
      : descriptor_(descriptor), carried_(std::move(carried)) {}
  stream_handle(stream_handle&& other) noexcept : stream_handle(other.release(), std::move(other.carried_)) {}
  stream_handle& operator=(stream_handle&& other) noexcept {
    descriptor_ = other.release();
    carried_ = std::move(other.carried_);
    return *this;
  }

  /// [loop] Returns the descriptor, or -1.
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// [loop] Returns nullptr for a bare socket.
  [[nodiscard]] transport* carried() const noexcept { return carried_.get(); }
  /// [loop] Takes the transport out; the descriptor stays.
  [[nodiscard]] std::unique_ptr<transport> take_carried() noexcept { return std::move(carried_); }
  /// [loop] Gives the descriptor to the caller. The transport stays.
  int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
  std::unique_ptr<transport> carried_;
};

}  // namespace quintet
