// SPDX-License-Identifier: BSL-1.0
// buffer_cache: spare byte_buffers of one loop: an idle connection holds none, and a busy one allocates none.
#pragma once

#include "byte_buffer.hpp"

#include <array>
#include <memory>
#include <span>
#include <utility>

namespace quintet {

/// A byte_buffer that exists only while it is needed. Without storage it reads as empty.
class cached_buffer {
 public:
  [[nodiscard]] bool empty() const noexcept { return !buffer_ || buffer_->empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_ ? buffer_->size() : 0; }
  /// Valid until the next append, consume or move.
  [[nodiscard]] bytes data() const noexcept { return buffer_ ? buffer_->data() : bytes(); }
  [[nodiscard]] bool has_storage() const noexcept { return buffer_ != nullptr; }

  void append(bytes more) {
    if (!buffer_) buffer_ = std::make_unique<byte_buffer>();
    buffer_->append(more);
  }
  /// Requires storage; see byte_buffer.
  void reserve_announced(std::size_t more, std::size_t announced) { buffer_->reserve_announced(more, announced); }
  [[nodiscard]] std::span<char> space() noexcept { return buffer_->space(); }
  void commit(std::size_t count) noexcept { buffer_->commit(count); }
  void consume(std::size_t count) noexcept {
    if (count) buffer_->consume(count);
  }
  void clear() noexcept {
    if (buffer_) buffer_->clear();
  }
  void swap(cached_buffer& other) noexcept { buffer_.swap(other.buffer_); }

 private:
  friend class buffer_cache;
  std::unique_ptr<byte_buffer> buffer_;
};

/// A bounded stack of empty buffers: hands out the last one used, still warm in the cache. Not synchronised: it belongs
/// to one loop.
class buffer_cache {
 public:
  static constexpr std::size_t initial_capacity = 4 * 1024;  ///< bytes, of a new buffer
  static constexpr std::size_t largest_kept = 256 * 1024;    ///< bytes; a larger buffer is freed
  static constexpr std::size_t spare_buffers = 64;           ///< kept at most

  /// Gives storage to a buffer that has none. Throws std::bad_alloc.
  void allocate(cached_buffer& b) {
    if (b.buffer_) return;
    b.buffer_ = count_ ? std::move(spares_[--count_]) : std::make_unique<byte_buffer>(initial_capacity);
  }
  /// Takes the storage back and drops its content: the next owner, perhaps another connection, must never see it.
  void recycle(cached_buffer& b) noexcept {
    if (!b.buffer_) return;
    std::unique_ptr<byte_buffer> storage = std::move(b.buffer_);
    if (storage->capacity() > largest_kept || count_ == spare_buffers) return;
    storage->clear();
    spares_[count_++] = std::move(storage);
  }

 private:
  std::array<std::unique_ptr<byte_buffer>, spare_buffers> spares_;
  std::size_t count_ = 0;
};

}  // namespace quintet
