// SPDX-License-Identifier: BSL-1.0
// byte_chain: bytes in a row of chunks, appended at the back and consumed from the front; content never moves. And a
// loop's spare chunks: chunk_cache.
#pragma once

#include "../bytes.hpp"
#include "byte_buffer.hpp"

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace quintet {

class chunk_cache;

/// For output. Bytes that wait for a slow peer are never copied to make room, and chunks are freed as they are sent.
/// The memory is that of the bytes to within a chunk, at worst twice that for many small pieces. It is more where few
/// bytes and references alternate. FreeBSD's mbuf chains and libevent's evbuffer are similar.
///
/// No thread affinity of its own; a chunk_cache argument must belong to the caller's thread.
class byte_chain {
 public:
  /// Bytes that a chunk holds: a reply of 16 KiB with its header leaves in one piece.
  static constexpr std::size_t chunk_size = 17 * 1024;

  byte_chain() noexcept = default;
  byte_chain(byte_chain&& other) noexcept : last_(std::exchange(other.last_, nullptr)) {}
  byte_chain& operator=(byte_chain&& other) noexcept {
    byte_chain taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~byte_chain() {
    if (last_) release();
  }
  void swap(byte_chain& other) noexcept { std::swap(last_, other.last_); }

  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return last_ ? last_->before + last_->size() : 0; }
  /// Returns whether there is a chunk, even an empty one.
  [[nodiscard]] bool has_storage() const noexcept { return last_ != nullptr; }

  /// Appends if that needs no other chunk; else returns false without effect.
  bool try_append(bytes more) noexcept { return last_ && try_append_here(more); }
  /// The same for a chain that has storage.
  bool try_append_here(bytes more) noexcept {
    if (last_->room() < more.size()) return false;
    last_->fill(more);
    return true;
  }
  /// Appends a copy, in chunks from `spare` if given. Throws std::bad_alloc without effect.
  void append(bytes more, chunk_cache* spare);
  /// Appends `whole` from `offset` on by reference. Throws std::bad_alloc.
  void append(shared_bytes whole, std::size_t offset);
  /// Moves all of `more` to the end. Copies only if all of it fits into the last chunk and has no references.
  void splice(byte_chain& more, chunk_cache& spare) noexcept;

  /// Returns whether all bytes lie in one piece, which is then back(). Most batches of replies do.
  [[nodiscard]] bool is_one_piece() const noexcept { return last_ && last_->next == last_; }
  /// Returns the last piece; requires storage. Valid until the next append or consume.
  [[nodiscard]] bytes back() const noexcept { return {last_->begin, last_->size()}; }
  /// Describes the bytes from the front for sendmsg(2), in at most `into.size()` pieces; returns how many. Valid until
  /// the next append or consume.
  [[nodiscard]] std::size_t gather(std::span<iovec> into) const noexcept;
  /// Drops the first `count` bytes; `count` must not exceed size().
  void consume(std::size_t count, chunk_cache& spare) noexcept {
    if (is_one_piece() && count < last_->size()) {
      last_->begin += count;
    } else if (last_) {
      consume_chunks(count, spare);
    }
  }

 private:
  friend class chunk_cache;

  // The chunks form a ring: one pointer, to the last, finds both ends. The last also counts the bytes before it.
  struct chunk {
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end - begin); }
    [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(limit - end); }
    inline void fill(bytes more) noexcept;
    chunk* next = this;
    const char* begin = nullptr;
    const char* end = nullptr;
    const char* limit = nullptr;  // of the storage; a reference ends with its bytes
    std::size_t before = 0;
    bool is_reference = false;
  };
  struct storage_chunk : chunk {
    storage_chunk() noexcept {
      begin = end = storage.data();
      limit = end + storage.size();
    }
    /// Only for a chunk that is alone in its chain.
    void rewind() noexcept { begin = end = storage.data(); }
    std::array<char, chunk_size> storage;  // not initialised
  };
  struct reference_chunk : chunk {
    explicit reference_chunk(shared_bytes whole) noexcept : keeps(std::move(whole)) {}
    shared_bytes keeps;
  };
  void consume_chunks(std::size_t count, chunk_cache& spare) noexcept;
  static void free(chunk* c) noexcept;
  static void recycle(chunk* c, chunk_cache& spare) noexcept;
  void link(chunk* fresh) noexcept;
  [[nodiscard]] bool has_references() const noexcept;
  void release() noexcept;

  chunk* last_ = nullptr;
};

// Only for a storage_chunk.
inline void byte_chain::chunk::fill(bytes more) noexcept {
  copy_bytes(const_cast<char*>(end), more);  // it points to our own storage
  end += more.size();
}

/// The spare chunks of one loop. Not synchronised.
class chunk_cache {
 public:
  static constexpr std::size_t spare_chunks = 64;  ///< kept in any case; more if they are allocated in advance

  /// Allocates chunks for `in_advance` bytes, and keeps as many. Throws std::bad_alloc.
  explicit chunk_cache(std::size_t in_advance = 0, surplus_watcher* watcher = nullptr);

  /// Gives a chunk to a chain that has none. Throws std::bad_alloc.
  void allocate(byte_chain& chain) {
    if (!chain.last_) chain.last_ = take().release();
  }
  /// The same; without memory the chain stays without a chunk.
  void try_allocate(byte_chain& chain) noexcept {
    if (!chain.last_) chain.last_ = try_take();
  }
  /// Lends a chain without a chunk the one that was lent before, if nobody has it for good: cheaper than
  /// try_allocate(). Only one chain at a time.
  void lend(byte_chain& chain) noexcept {
    if (!lent_) [[unlikely]]
      lent_.reset(try_take());
    chain.last_ = lent_.get();
  }
  /// Takes it back with its content, of which nothing was consumed. The chain may meanwhile have another one.
  void take_back(byte_chain& chain) noexcept {
    byte_chain::chunk* const c = std::exchange(chain.last_, nullptr);
    c->end = c->begin;
    if (c != lent_.get()) [[unlikely]]
      spares_.push(static_cast<byte_chain::storage_chunk*>(c));
  }
  /// The chain may have it for good.
  void give_away(const byte_chain& chain) noexcept {
    if (chain.last_ && chain.last_->next == lent_.get()) (void)lent_.release();
  }
  /// Takes back a chain's chunks, with their content.
  void recycle(byte_chain& chain) noexcept {
    if (chain.is_one_piece() && !chain.last_->is_reference)
      put(static_cast<byte_chain::storage_chunk*>(std::exchange(chain.last_, nullptr)));
    else if (chain.last_)
      recycle_all(chain);
  }
  /// See spare_stack.
  bool trim() noexcept { return spares_.trim(); }

 private:
  friend class byte_chain;
  void recycle_all(byte_chain& chain) noexcept;
  using storage = std::unique_ptr<byte_chain::storage_chunk>;
  storage take();
  byte_chain::storage_chunk* try_take() noexcept {
    byte_chain::storage_chunk* const spare = spares_.pop();
    return spare ? spare : try_make();
  }
  static byte_chain::storage_chunk* try_make() noexcept;
  void put(byte_chain::storage_chunk* c) noexcept {  // it is, or was, alone in its chain
    c->rewind();
    if (c != lent_.get()) spares_.push(c);
  }

  spare_stack<byte_chain::storage_chunk> spares_;
  storage lent_;  // of lend()
};

}  // namespace quintet
