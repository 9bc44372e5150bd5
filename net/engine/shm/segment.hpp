// SPDX-License-Identifier: BSL-1.0
// segment: the shared memory of one connection: a page of positions, and a ring for each direction.
#pragma once

#include "../../../base/error.hpp"
#include "../file_descriptor.hpp"
#include "byte_ring.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <sys/types.h>

namespace quintet::shm {

class closed_segments;
class segment_access;
class segment_lease;

constexpr std::size_t smallest_ring = 4 * 1024;
constexpr std::size_t largest_ring = std::size_t{64} * 1024 * 1024;
/// Whether a ring may have this size: a power of two, so that a position's low bits are its index.
[[nodiscard]] constexpr bool is_ring_size(std::uint64_t size) noexcept {
  return size >= smallest_ring && size <= largest_ring && (size & (size - 1)) == 0;
}
/// Returns the bytes of a segment.
[[nodiscard]] constexpr std::size_t segment_size(std::size_t ring_size) noexcept {
  constexpr std::size_t control_size = 4096;  // a page of the smallest size that Linux has
  static_assert(2 * sizeof(ring_control) <= control_size);
  return control_size + 2 * ring_size;
}

/// Memory that two processes map: its creator, which is the server, and the client that it was offered to. It is a file
/// without a name, or a part of one (segment_pool): the file is gone when no process maps it or holds its descriptor.
/// The creator seals the file's size, so that no access can fail because another process has truncated it.
class segment {
 public:
  segment() noexcept;
  segment(segment&& other) noexcept;
  segment& operator=(segment&& other) noexcept;
  ~segment();

  /// Makes a file for one segment. Returns the reason of a failure. Throws std::bad_alloc.
  [[nodiscard]] static error_code create(std::size_t ring_size, std::shared_ptr<closed_segments> closed, segment& made,
                                         file_descriptor& file);
  /// Makes a segment of zeroed memory that is mapped already, and that `lease` gives back.
  segment(char* mapped, std::size_t ring_size, std::unique_ptr<segment_lease> lease) noexcept;
  /// Maps a segment that another process has created. Checks the size and the seals first. Returns the reason of a
  /// failure: EPROTO if the file has no such segment at `offset`.
  [[nodiscard]] static error_code attach(const file_descriptor& file, std::size_t ring_size, std::uint64_t offset,
                                         segment& made) noexcept;

  explicit operator bool() const noexcept { return base_ != nullptr; }
  [[nodiscard]] std::size_t ring_size() const noexcept { return ring_size_; }
  /// Returns the ring that this process writes to. Only one producer of it may exist.
  [[nodiscard]] ring_producer producer() const noexcept { return {control(is_creator_), ring(is_creator_)}; }
  /// Returns the ring that this process reads from. Only one consumer of it may exist.
  [[nodiscard]] ring_consumer consumer() const noexcept { return {control(!is_creator_), ring(!is_creator_)}; }
  /// Call before the segment is offered to a process, and before the socket of the connection is closed; see
  /// segment_lease.
  void note_offer(pid_t process) noexcept;
  [[nodiscard]] bool leave(int socket) noexcept;

 private:
  friend class segment_access;  // of the tests, which write what a hostile peer may write
  [[nodiscard]] ring_control& control(bool of_creator) const noexcept;
  [[nodiscard]] std::span<char> ring(bool of_creator) const noexcept;

  char* base_ = nullptr;
  std::unique_ptr<segment_lease> lease_;  // null: this object has mapped the memory of another process
  std::uint32_t ring_size_ = 0;
  bool is_creator_ = false;
};

/// Makes a file in memory that stays as large as it is, and maps it. Returns the reason of a failure.
[[nodiscard]] error_code make_sealed_file(std::size_t size, file_descriptor& file, char*& mapped) noexcept;

}  // namespace quintet::shm
