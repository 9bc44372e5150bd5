// SPDX-License-Identifier: BSL-1.0
// segment: the shared memory of one connection: a page of positions, and a ring for each direction.
#pragma once

#include "../../../base/error.hpp"
#include "../file_descriptor.hpp"
#include "ring.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace quintet::shm {

class segment_access;

constexpr std::size_t smallest_ring = 4 * 1024;
constexpr std::size_t largest_ring = std::size_t{64} * 1024 * 1024;
/// Whether a ring may have this size: a power of two, so that a position's low bits are its index.
[[nodiscard]] constexpr bool is_ring_size(std::uint64_t size) noexcept {
  return size >= smallest_ring && size <= largest_ring && (size & (size - 1)) == 0;
}

/// Memory that exactly two processes map: its creator, which is the server, and the client that it was offered to.
/// It has no name: it is gone when both have ended. The creator seals its size, so that no access can fail because the
/// other process has truncated it.
class segment {
 public:
  segment() noexcept = default;
  segment(segment&& other) noexcept : base_(std::exchange(other.base_, nullptr)), ring_size_(other.ring_size_) {
    is_creator_ = other.is_creator_;
  }
  segment& operator=(segment&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(ring_size_, other.ring_size_);
    std::swap(is_creator_, other.is_creator_);
    return *this;
  }
  ~segment();

  /// Makes a segment and its sealed file in memory. Returns the reason of a failure.
  [[nodiscard]] static error_code create(std::size_t ring_size, segment& made, file_descriptor& file) noexcept;
  /// Maps a segment that another process has created. Checks the size and the seals first. Returns the reason of a
  /// failure: EPROTO if the file is not such a segment.
  [[nodiscard]] static error_code attach(const file_descriptor& file, std::size_t ring_size, segment& made) noexcept;

  explicit operator bool() const noexcept { return base_ != nullptr; }
  [[nodiscard]] std::size_t ring_size() const noexcept { return ring_size_; }
  /// Returns the ring that this process writes to. Only one producer of it may exist.
  [[nodiscard]] ring_producer producer() const noexcept { return {control(is_creator_), ring(is_creator_)}; }
  /// Returns the ring that this process reads from. Only one consumer of it may exist.
  [[nodiscard]] ring_consumer consumer() const noexcept { return {control(!is_creator_), ring(!is_creator_)}; }

 private:
  friend class segment_access;  // of the tests, which write what a hostile peer may write
  [[nodiscard]] error_code map(int file, std::size_t ring_size, bool is_creator) noexcept;
  [[nodiscard]] ring_control& control(bool of_creator) const noexcept;
  [[nodiscard]] std::span<char> ring(bool of_creator) const noexcept;

  char* base_ = nullptr;
  std::size_t ring_size_ = 0;
  bool is_creator_ = false;
};

}  // namespace quintet::shm
