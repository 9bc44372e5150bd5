// SPDX-License-Identifier: BSL-1.0
// byte_buffer: contiguous bytes, appended at the back and consumed from the front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace quintet {

/// A view of bytes. What it points to belongs to somebody else; each function that hands one out says for how long.
using bytes = std::string_view;

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
    byte_buffer(std::move(other)).swap(*this);
    return *this;
  }

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Valid until the next append, consume or move of this buffer.
  [[nodiscard]] bytes data() const noexcept { return {storage_.get() + begin_, size()}; }

  void append(bytes more) {
    if (more.empty()) return;
    if (capacity_ - end_ < more.size()) make_room(more.size());
    std::memcpy(storage_.get() + end_, more.data(), more.size());
    end_ += more.size();
  }
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

  // Moves the unread bytes to the front, into twice the storage when what is there does not suffice.
  void make_room(std::size_t count) {
    const std::size_t unread = size();
    if (capacity_ < unread + count || begin_ < capacity_ / 2) {
      const std::size_t larger = std::max({capacity_ * 2, unread + count, std::size_t{256}});
      std::unique_ptr<char[]> fresh = allocate(larger);
      if (unread) std::memcpy(fresh.get(), storage_.get() + begin_, unread);
      storage_ = std::move(fresh);
      capacity_ = larger;
    } else {
      std::memmove(storage_.get(), storage_.get() + begin_, unread);
    }
    begin_ = 0;
    end_ = unread;
  }

  std::unique_ptr<char[]> storage_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace quintet
