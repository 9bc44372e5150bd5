// SPDX-License-Identifier: BSL-1.0
// segment_pool: one file in memory for many connections, so that N processes that all know each other have N files.
#pragma once

#include "segment.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace quintet::shm {

class segment_file;

/// Returns the distance of the segments in a file: the kernel maps at multiples of a page.
[[nodiscard]] std::size_t place_size(std::size_t ring_size) noexcept;

/// Files in memory, each with places for several segments. Clients map their own place, but they could map the others:
/// all must be trusted. A place is used again when its client can no longer write to it.
class segment_pool {
 public:
  class state;
  /// `places` of each file is at least 1. Throws std::bad_alloc.
  segment_pool(std::size_t ring_size, std::size_t places);

  /// [any thread] Takes the first free place, with empty rings. `in_file` is valid while the segment exists. Makes
  /// another file if all places are in use. Returns the reason of a failure. Throws std::bad_alloc.
  [[nodiscard]] error_code take(segment& made, int& in_file, std::uint64_t& offset);
  /// [any thread] Returns how many files exist. At most one of them has no place in use.
  [[nodiscard]] std::size_t files() const;

 private:
  const std::shared_ptr<state> state_;  // leases keep it
};

/// A place of a file. The destructor gives it back: it can be used again at once if it was never offered, else only
/// after leave(), once the peer has left as well.
class segment_lease {
 public:
  segment_lease(std::shared_ptr<segment_pool::state> pool, segment_file& file, std::size_t place) noexcept
      : pool_(std::move(pool)), file_(file), place_(place) {}
  segment_lease(const segment_lease&) = delete;
  segment_lease& operator=(const segment_lease&) = delete;
  ~segment_lease();

  /// From now on a peer may know the place.
  void note_offer() noexcept { is_offered_ = true; }
  /// Call when this process has accessed the memory for the last time. If the peer has closed its end of `socket`,
  /// returns false. Otherwise tells the peer that the connection ends, takes the socket over and returns true: the
  /// kernel tells by it when the peer has closed its end, after its last access to the memory.
  [[nodiscard]] bool leave(int socket) noexcept;

 private:
  const std::shared_ptr<segment_pool::state> pool_;
  segment_file& file_;
  const std::size_t place_;
  file_descriptor socket_;  // kept until the peer has left
  bool is_offered_ = false, is_left_ = false;
};

}  // namespace quintet::shm
