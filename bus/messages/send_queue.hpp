// SPDX-License-Identifier: BSL-1.0
// send_queue: a link's messages that its peer has not acknowledged, as frames, ready to be written again.
#pragma once

#include "frames.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quintet::bus {

/// Spare chunks of a node's queues. Not synchronised.
class chunk_store {
 public:
  static constexpr std::size_t chunk_size = 64 * 1024, most_spare = 16;
  using chunk = std::shared_ptr<std::string>;
  /// Returns a chunk of at least this size, which has memory for chunk_size. Throws std::bad_alloc.
  [[nodiscard]] chunk take(std::size_t least) {
    const bool is_fresh = spare_.empty() || spare_.back()->capacity() < least;
    chunk c = is_fresh ? std::make_shared<std::string>() : std::move(spare_.back());
    is_fresh ? c->reserve(std::max(least, chunk_size)) : spare_.pop_back();
    if (c->size() < least) c->resize(least);
    return c;
  }
  /// A chunk that a connection still sends is not kept.
  void put(chunk&& c) noexcept {
    if (c.use_count() == 1 && c->capacity() < 2 * chunk_size && spare_.size() < spare_.capacity())
      spare_.push_back(std::move(c));
  }
  chunk_store() { spare_.reserve(most_spare); }

 private:
  std::vector<chunk> spare_;
};

/// Frames lie in chunks, each frame in one piece. Several connections can read the queue, each with its own cursor.
/// Sequence numbers begin at 1.
class send_queue {
 public:
  /// A position. Chunks that are acknowledged and freed meanwhile are skipped.
  struct cursor {
    std::uint64_t chunk = 0;
    std::size_t offset = 0;
  };

  /// Throws std::bad_alloc: an empty deque of libstdc++ has memory.
  send_queue(chunk_store& store, std::size_t limit) : store_(store), limit_(limit) {}

  /// Returns space for a frame, or nullptr if the queue is full. Throws std::bad_alloc.
  [[nodiscard]] char* reserve(std::size_t frame) {
    if (bytes_ + frame > limit_) return nullptr;
    if (chunks_.empty() || chunks_.back().memory->size() - chunks_.back().used < frame) [[unlikely]]
      make_room(frame);
    return chunks_.back().data() + chunks_.back().used;
  }
  /// Adds the frame that was written to the reserved space; its number is last() afterwards.
  void commit(std::size_t frame) noexcept {
    chunks_.back().used += frame;
    bytes_ += frame;
    ++last_;
  }
  /// Frees the chunks up to this message. The caller ensures that acknowledged() <= number <= last().
  void acknowledge(std::uint64_t number) noexcept;
  void drop_all() noexcept { acknowledge(last_); }

  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t acknowledged() const noexcept { return acknowledged_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] bool is_half_empty() const noexcept { return bytes_ <= limit_ / 2; }

  /// Returns the position of a message that is not acknowledged, or of the end for last() + 1.
  [[nodiscard]] cursor find(std::uint64_t number) const noexcept;
  /// Returns the bytes at the cursor, as far as they lie in one piece. Empty at the end of the queue.
  [[nodiscard]] bytes peek(cursor& at) const noexcept;
  /// Returns the chunk at the cursor if the cursor is at its beginning and nothing is added to it any more, else null.
  [[nodiscard]] shared_bytes peek_chunk(cursor& at) const noexcept;

 private:
  struct numbered_chunk {
    chunk_store::chunk memory;
    std::size_t used = 0;
    std::uint64_t first = 0;  // number of its first message
    [[nodiscard]] char* data() const noexcept { return memory->data(); }
  };
  void make_room(std::size_t frame);
  /// Moves the cursor to the next byte. Returns nullptr at the end of the queue.
  [[nodiscard]] const numbered_chunk* chunk_at(cursor& at) const noexcept;

  chunk_store& store_;
  const std::size_t limit_;
  std::deque<numbered_chunk> chunks_;
  std::uint64_t freed_ = 0;  // chunks before the first one here
  std::size_t bytes_ = 0;    // in the chunks, also of acknowledged messages
  std::uint64_t last_ = 0, acknowledged_ = 0;
};

}  // namespace quintet::bus
