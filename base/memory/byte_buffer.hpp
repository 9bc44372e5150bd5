// SPDX-License-Identifier: BSL-1.0
// byte_buffer: contiguous bytes, appended at the back and consumed from the front. Counts copies where that is asked
// for.
#pragma once

#include "../bytes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace quintet {

#ifdef QUINTET_COUNT_COPIES
inline constexpr bool counts_copies = true;
#else
inline constexpr bool counts_copies = false;
#endif

namespace detail {

inline std::atomic<std::uint64_t> copied{0};

/// [any thread] Counts a copy. Does nothing unless the library and the program were built with
/// -DQUINTET_COUNT_COPIES=ON, as the preset `dev` does: the threads share the counter, which costs time.
inline void note_copied([[maybe_unused]] std::size_t size) noexcept {
  if constexpr (counts_copies) copied.fetch_add(size, std::memory_order_relaxed);
}

}  // namespace detail

/// [any thread] Returns the bytes of input and output that the library has copied from one place in memory to another,
/// in this process. Copies by the kernel do not count. Returns 0 unless `counts_copies`.
[[nodiscard]] inline std::uint64_t copied_bytes() noexcept { return detail::copied.load(std::memory_order_relaxed); }

/// Copies as memcpy does. Most messages are short: the call would take longer than the copy.
inline void copy_bytes(char* to, bytes from) noexcept {
  detail::note_copied(from.size());
  if (from.size() - 8 <= 8) {  // 8 to 16, in two halves that may overlap
    std::uint64_t first, last;
    std::memcpy(&first, from.data(), 8);
    std::memcpy(&last, from.data() + from.size() - 8, 8);
    std::memcpy(to, &first, 8);
    std::memcpy(to + from.size() - 8, &last, 8);
  } else if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());
  }
}

/// The storage is never zero-filled, and an empty buffer may hold none:
///
///   storage_            begin_               end_              capacity_
///      | consumed, free   | data(): unread    | free for append  |
///
/// Invariant: begin_ <= end_ <= capacity_; an empty buffer has begin_ == end_ == 0. No thread affinity of its own.
class byte_buffer {
 public:
  byte_buffer() noexcept = default;
  explicit byte_buffer(std::size_t capacity) : storage_(allocate(capacity)), capacity_(capacity) {}
  byte_buffer(byte_buffer&& other) noexcept { swap(other); }
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    byte_buffer taken(std::move(other));
    swap(taken);
    return *this;
  }

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Valid until the next append, consume or move of this buffer.
  [[nodiscard]] bytes data() const noexcept { return {storage_.get() + begin_, size()}; }

  void append(bytes more) {
    if (capacity_ - end_ < more.size()) make_room(more.size());
    copy_bytes(storage_.get() + end_, more);
    end_ += more.size();
  }
  /// Makes room for `size` contiguous bytes in all, so that appending up to there moves nothing.
  void reserve(std::size_t size) {
    if (capacity_ - begin_ < size) move_to_front(size);
  }
  /// Makes room for `more` bytes of a message of `announced` bytes in all. A peer may never send what it announces. So
  /// room starts at `announced_room` bytes, then is four times the received size; a quarter more if that is all.
  void reserve_announced(std::size_t more, std::size_t announced) {
    if (capacity_ - end_ >= more) return;
    const std::size_t least = size() + more, room = std::max(announced_room, 4 * least);
    reserve(std::max(least, announced <= room + room / 4 ? announced : room));
  }
  static constexpr std::size_t announced_room = 1024 * 1024;
  /// Returns the free space behind the last byte. The caller fills it from its front and calls commit(). Valid as
  /// data() is.
  [[nodiscard]] std::span<char> space() noexcept { return {storage_.get() + end_, capacity_ - end_}; }
  /// Adds `count` bytes that the caller has put into space(), at most its size.
  void commit(std::size_t count) noexcept { end_ += count; }
  /// Drops the first `count` bytes; `count` must not exceed size().
  void consume(std::size_t count) noexcept {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() noexcept { begin_ = end_ = 0; }
  void swap(byte_buffer& other) noexcept {
    storage_.swap(other.storage_);
    std::swap(capacity_, other.capacity_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
  }

 private:
  static std::unique_ptr<char[]> allocate(std::size_t n) { return std::make_unique_for_overwrite<char[]>(n); }

  // Doubles the storage if it does not suffice, or if its content would move again too soon.
  void make_room(std::size_t count) {
    const bool too_small = capacity_ < size() + count || begin_ < capacity_ / 2;
    move_to_front(too_small ? std::max({capacity_ * 2, size() + count, std::size_t{256}}) : capacity_);
  }
  // Moves the unread bytes to the front, in storage of at least this capacity.
  void move_to_front(std::size_t capacity) {
    const std::size_t unread = size();
    detail::note_copied(unread);
    if (capacity_ < capacity) {
      std::unique_ptr<char[]> fresh = allocate(capacity);
      if (unread) std::memcpy(fresh.get(), storage_.get() + begin_, unread);
      storage_ = std::move(fresh);
      capacity_ = capacity;
    } else {
      std::memmove(storage_.get(), storage_.get() + begin_, unread);
    }
    begin_ = 0;
    end_ = unread;
  }

  std::unique_ptr<char[]> storage_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

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
