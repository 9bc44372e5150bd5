// SPDX-License-Identifier: BSL-1.0
// message_buffer: a contiguous message with headroom, so that new headers do not move it.
#pragma once

#include "../memory/byte_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace quintet {

/// For a message that is stored, or forwarded with more headers: an id, then the header of the next codec.
///
///   storage_     begin_              end_           capacity_
///      | headroom   | data()           | free          |
///
/// An empty buffer may have no storage yet. No thread affinity of its own.
class message_buffer {
 public:
  static constexpr std::size_t default_headroom = 32;  ///< bytes; several nested headers

  /// `headroom`: bytes that can be prepended later without moving the message.
  explicit message_buffer(std::size_t headroom = default_headroom) noexcept : headroom_(headroom) {}
  /// Copies the message. Throws std::bad_alloc.
  explicit message_buffer(bytes message, std::size_t headroom = default_headroom) : message_buffer(headroom) {
    append(message);
  }
  message_buffer(message_buffer&& other) noexcept : message_buffer(other.headroom_) { swap(other); }
  message_buffer& operator=(message_buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Return whether the message has no bytes, and its size.
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  /// Returns how many bytes prepend() takes now without moving the message.
  [[nodiscard]] std::size_t headroom() const noexcept { return storage_ ? begin_ : headroom_; }
  /// Valid until the next append, prepend or move.
  [[nodiscard]] bytes data() const noexcept { return {storage_.get() + begin_, size()}; }
  /// The same functions as of envelope, for codecs.
  [[nodiscard]] static bytes header() noexcept { return {}; }
  [[nodiscard]] bytes payload() const noexcept { return data(); }

  /// Copies `more` behind the message; grows if needed. `more` may be a part of the message. Throws std::bad_alloc
  /// without effect.
  void append(bytes more) {
    if (more.empty()) return;
    block old;
    if (capacity_ - end_ < more.size()) old = move_to(headroom(), std::max(2 * size(), size() + more.size()));
    std::memcpy(storage_.get() + end_, more.data(), more.size());
    end_ += more.size();
  }
  /// The same before the message.
  void prepend(bytes more) {
    if (more.empty()) return;
    block old;
    if (begin_ < more.size()) old = move_to(more.size() + headroom_, size());
    begin_ -= more.size();
    std::memcpy(storage_.get() + begin_, more.data(), more.size());
  }
  /// Moves the first bytes of the message to `to`. Returns false, without effect, if it has fewer.
  [[nodiscard]] bool take_front(std::span<char> to) noexcept {
    if (size() < to.size()) return false;
    std::copy_n(data().begin(), to.size(), to.begin());
    begin_ += to.size();
    return true;
  }
  /// Empties the buffer and restores its headroom. Keeps the memory.
  void clear() noexcept { begin_ = end_ = std::min(headroom_, capacity_); }
  /// Exchanges message and memory.
  void swap(message_buffer& other) noexcept {
    storage_.swap(other.storage_);
    std::swap(headroom_, other.headroom_);
    std::swap(capacity_, other.capacity_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
  }

 private:
  using block = std::unique_ptr<char[]>;

  /// Returns the old storage, which the caller may still have to read.
  [[nodiscard]] block move_to(std::size_t begin, std::size_t room) {
    const std::size_t used = size();
    block fresh = std::make_unique_for_overwrite<char[]>(begin + room);
    if (used) std::memcpy(fresh.get() + begin, storage_.get() + begin_, used);
    storage_.swap(fresh);
    capacity_ = begin + room;
    begin_ = begin;
    end_ = begin + used;
    return fresh;
  }

  block storage_;
  std::size_t headroom_, capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace quintet
