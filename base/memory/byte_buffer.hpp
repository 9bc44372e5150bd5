// SPDX-License-Identifier: BSL-1.0
// byte_buffer: contiguous bytes, appended at the back and consumed from the front; the spare ones of a loop. Counts
// copies where that is asked for.
#pragma once

#include "../bytes.hpp"

#include <algorithm>
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

  // Doubles the storage if it does not suffice, or if its content would move again too soon. Not inlined, so that
  // append() is short.
  [[gnu::noinline]] void make_room(std::size_t count) {
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
    if (!buffer_) buffer_ = std::make_unique<linked_buffer>();
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
  struct linked_buffer : byte_buffer {
    using byte_buffer::byte_buffer;
    linked_buffer* next = nullptr;  // in a buffer_cache
  };
  std::unique_ptr<linked_buffer> buffer_;
};

/// Is told when a stack begins to keep more than it always may. The watcher then calls trim() about once a second.
class surplus_watcher {
 public:
  virtual void on_surplus() noexcept = 0;

 protected:
  ~surplus_watcher() = default;
};

/// Owns objects that are linked by their member `next`. Hands out the last one used, still warm in the processor's
/// caches. A burst leaves all its objects here. trim() then frees half of those that were not needed since its last
/// call. Not synchronised: it belongs to one loop.
template <class T>
class spare_stack {
 public:
  static constexpr std::size_t most = 1024;  ///< kept after a burst

  /// Keeps `always` objects in any case, and without a watcher no more. One more is kept for the next use.
  spare_stack(std::size_t always, surplus_watcher* watcher) noexcept
      : always_(always), most_(watcher ? std::max(always, most) : always), watcher_(watcher) {}
  spare_stack(const spare_stack&) = delete;
  spare_stack& operator=(const spare_stack&) = delete;
  ~spare_stack() {
    delete hot_;
    free_all_but(0);
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool has_surplus() const noexcept { return count_ > always_; }
  /// Returns an object that the caller then owns, or nullptr. The object is linked to itself.
  [[nodiscard]] T* pop() noexcept {
    if (hot_) [[likely]]
      return std::exchange(hot_, nullptr);
    return pop_other();
  }
  /// Takes ownership.
  void push(T* spare) noexcept {
    if (hot_) [[unlikely]]
      return push_more(spare);
    hot_ = spare;
  }
  /// Frees half of the objects that were not needed since the last call. Returns whether there may be others to free.
  bool trim() noexcept {
    const std::size_t unneeded = least_ > always_ ? least_ - always_ : 0;
    free_all_but(count_ - (unneeded + 1) / 2);
    least_ = count_;
    return has_surplus();
  }

 private:
  // Not inlined, so that the paths of a lone connection stay short.
  [[gnu::noinline]] T* pop_other() noexcept {
    if (!top_) return nullptr;
    least_ = std::min(least_, --count_);
    T* const taken = std::exchange(top_, static_cast<T*>(top_->next));
    taken->next = taken;
    return taken;
  }
  [[gnu::noinline]] void push_more(T* spare) noexcept {
    T* const older = std::exchange(hot_, spare);
    if (count_ == most_) return delete older;
    older->next = std::exchange(top_, older);
    if (++count_ == always_ + 1 && watcher_) watcher_->on_surplus();
  }
  void free_all_but(std::size_t kept) noexcept {
    for (; count_ > kept; --count_) delete std::exchange(top_, static_cast<T*>(top_->next));
  }

  T* hot_ = nullptr;  // the one used last
  T* top_ = nullptr;
  std::size_t count_ = 0;  // without hot_
  std::size_t least_ = 0;  // the lowest count_ since the last trim(), or a lower number
  const std::size_t always_, most_;
  surplus_watcher* const watcher_;
};

/// The empty buffers of one loop, for reuse. Not synchronised.
class buffer_cache {
 public:
  static constexpr std::size_t initial_capacity = 4 * 1024;  ///< bytes, of a new buffer
  static constexpr std::size_t largest_kept = 256 * 1024;    ///< bytes; a larger buffer is freed
  static constexpr std::size_t largest_surplus = 16 * 1024;  ///< bytes; the same while there are spare_buffers
  static constexpr std::size_t spare_buffers = 64;           ///< kept in any case

  explicit buffer_cache(surplus_watcher* watcher = nullptr) noexcept : spares_(spare_buffers, watcher) {}

  /// Gives storage to a buffer that has none. Throws std::bad_alloc.
  void allocate(cached_buffer& b) {
    if (b.buffer_) return;
    cached_buffer::linked_buffer* const spare = spares_.pop();
    b.buffer_.reset(spare ? spare : make());
  }
  /// Takes the storage back and drops its content: the next owner, perhaps another connection, must never see it.
  void recycle(cached_buffer& b) noexcept {
    if (!b.buffer_) return;
    if (b.buffer_->capacity() > largest_surplus && is_too_large(b.buffer_->capacity())) [[unlikely]]
      return b.buffer_.reset();
    b.buffer_->clear();
    spares_.push(b.buffer_.release());
  }
  /// See spare_stack.
  bool trim() noexcept { return spares_.trim(); }

 private:
  [[gnu::noinline]] static cached_buffer::linked_buffer* make() {
    return new cached_buffer::linked_buffer(initial_capacity);
  }
  [[nodiscard]] bool is_too_large(std::size_t capacity) const noexcept {
    return capacity > largest_kept || spares_.size() >= spare_buffers;
  }

  spare_stack<cached_buffer::linked_buffer> spares_;
};

}  // namespace quintet
