// SPDX-License-Identifier: BSL-1.0
// byte_chain: bytes in a row of chunks, appended at the back and consumed from the front; what is in it never moves.
#pragma once

#include <quintet/base/byte_buffer.hpp>

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace quintet {

/// Bytes that several owners hold without a copy for each.
using shared_bytes = std::shared_ptr<const std::string>;

class chunk_cache;

/// For output: what waits for a slow peer takes as much memory as it has bytes (to within a chunk, and at worst twice
/// that for many small pieces), is never copied to make room, and goes back chunk by chunk as it is sent. FreeBSD's
/// mbuf chains and libevent's evbuffer are made in the same way.
///
/// No thread affinity of its own; a chunk_cache that is passed is the caller's thread's.
class byte_chain {
 public:
  static constexpr std::size_t chunk_size = 16 * 1024;  ///< memory of a chunk

  byte_chain() noexcept = default;
  byte_chain(byte_chain&& other) noexcept : last_(std::exchange(other.last_, nullptr)) {}
  byte_chain& operator=(byte_chain&& other) noexcept {
    byte_chain(std::move(other)).swap(*this);
    return *this;
  }
  ~byte_chain() {
    if (last_) release();
  }
  void swap(byte_chain& other) noexcept { std::swap(last_, other.last_); }

  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return last_ ? last_->total : 0; }
  /// Whether it has a chunk, if only an empty one.
  [[nodiscard]] bool equipped() const noexcept { return last_ != nullptr; }

  /// Appends if that needs no other chunk; else nothing happens and the result is false.
  bool try_append(bytes more) noexcept {
    if (!last_ || last_->room < more.size()) return false;
    last_->fill(more);
    return true;
  }
  /// Appends by copying; with `spare`, in chunks from there. Throws std::bad_alloc, and has then appended nothing.
  void append(bytes more, chunk_cache* spare);
  /// Appends `whole` from `offset` on without copying it. Throws std::bad_alloc.
  void append(shared_bytes whole, std::size_t offset);
  /// Moves all of `more` to the end, by copying only what is small enough to share the last chunk.
  void splice(byte_chain& more, chunk_cache& spare) noexcept;

  /// Whether all bytes lie in one piece, which is then front(). Most batches of replies do.
  [[nodiscard]] bool is_one_piece() const noexcept { return last_ && last_->next == last_; }
  /// The first piece, of a chain that is equipped. Valid until the next append or consume.
  [[nodiscard]] bytes front() const noexcept { return {last_->next->begin, last_->next->size()}; }
  /// Describes the bytes from the front on for sendmsg(2), as many pieces as there is space for; returns how many.
  /// Valid until the next append or consume.
  [[nodiscard]] std::size_t gather(std::span<iovec> into) const noexcept;
  /// Drops the first `count` bytes; `count` must not exceed size().
  void consume(std::size_t count, chunk_cache& spare) noexcept {
    if (is_one_piece() && count < last_->size()) {
      last_->begin += count;
      last_->total -= count;
    } else if (last_) {
      consume_chunks(count, spare);
    }
  }

 private:
  friend class chunk_cache;

  // The chunks form a ring, so that one pointer, to the last, finds both ends; the last also knows the sum.
  struct chunk {
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end - begin); }
    inline void fill(bytes more) noexcept;
    chunk* next = this;
    const char* begin = nullptr;
    const char* end = nullptr;
    std::size_t room = 0;  // for more, behind the end; a reference has none
    std::size_t total = 0;
    bool is_reference = false;
  };
  struct storage_chunk : chunk {
    storage_chunk() noexcept { reset(); }
    void reset() noexcept {
      next = this;
      begin = end = storage.data();
      room = storage.size();
      total = 0;
    }
    std::array<char, chunk_size - sizeof(chunk)> storage;  // not initialised
  };
  struct reference_chunk : chunk {
    explicit reference_chunk(shared_bytes whole) noexcept : keeps(std::move(whole)) {}
    shared_bytes keeps;
  };
  void consume_chunks(std::size_t count, chunk_cache& spare) noexcept;
  static void free(chunk* c) noexcept;
  static void recycle(chunk* c, chunk_cache& spare) noexcept;
  void link(chunk* fresh) noexcept;
  void release() noexcept;

  chunk* last_ = nullptr;
};

inline void byte_chain::chunk::fill(bytes more) noexcept {
  std::array<char, chunk_size - sizeof(chunk)>& storage = static_cast<storage_chunk*>(this)->storage;
  if (!more.empty()) std::memcpy(storage.data() + storage.size() - room, more.data(), more.size());
  end += more.size();
  room -= more.size();
  total += more.size();
}

/// Spare chunks of one loop, the one used last first: it is still warm in the processor's caches. Not synchronised.
class chunk_cache {
 public:
  static constexpr std::size_t spare_chunks = 64;  ///< kept at most

  chunk_cache() noexcept = default;
  chunk_cache(const chunk_cache&) = delete;
  chunk_cache& operator=(const chunk_cache&) = delete;

  /// Gives a chunk to a chain that has none.
  void equip(byte_chain& chain) {
    if (!chain.last_) chain.last_ = take().release();
  }
  /// Takes back a chain's chunks, with whatever they still hold.
  void take_back(byte_chain& chain) noexcept {
    if (!chain.last_) return;
    if (chain.is_one_piece() && !chain.last_->is_reference)
      put(storage(static_cast<byte_chain::storage_chunk*>(std::exchange(chain.last_, nullptr))));
    else
      take_back_all(chain);
  }

 private:
  friend class byte_chain;
  void take_back_all(byte_chain& chain) noexcept;
  using storage = std::unique_ptr<byte_chain::storage_chunk>;
  storage take() { return count_ ? std::move(spares_[--count_]) : std::make_unique<byte_chain::storage_chunk>(); }
  void put(storage chunk) noexcept {
    if (count_ == spare_chunks) return;
    chunk->reset();
    spares_[count_++] = std::move(chunk);
  }

  std::array<storage, spare_chunks> spares_;
  std::size_t count_ = 0;
};

}  // namespace quintet
