// SPDX-License-Identifier: BSL-1.0
// segment_pool: one file in memory for many connections, so that N processes that all know each other have N files.
#pragma once

#include "segment.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace quintet::shm {

/// Files in memory, each with places for several segments. Clients map their own place, but they could map the others:
/// all must be trusted. A place is used again when its client can no longer write to it.
class segment_pool {
 public:
  class file;
  /// `places` of each file is at least 1.
  segment_pool(std::size_t ring_size, std::size_t places) noexcept : ring_size_(ring_size), places_(places) {}

  /// [any thread] Takes a place with empty rings. `in_file` is valid while the segment exists. Makes another file if
  /// all places are in use. Returns the reason of a failure. Throws std::bad_alloc.
  [[nodiscard]] error_code take(segment& made, int& in_file, std::uint64_t& offset);
  /// [any thread] Returns how many files were made.
  [[nodiscard]] std::size_t files() const;

 private:
  const std::size_t ring_size_, places_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<file>> files_;
};

/// A place of a file. The destructor gives it back.
class segment_lease {
 public:
  segment_lease(std::shared_ptr<segment_pool::file> from, std::size_t place) noexcept
      : from_(std::move(from)), place_(place) {}
  segment_lease(const segment_lease&) = delete;
  segment_lease& operator=(const segment_lease&) = delete;
  ~segment_lease();

  /// Tells the peer that this process closes the connection. Keeps its `socket` open: the kernel tells by it when the
  /// peer has closed its end, after its last access to the memory. Without this call the place is never used again.
  void leave(int socket) noexcept;

 private:
  const std::shared_ptr<segment_pool::file> from_;
  const std::size_t place_;
  file_descriptor peer_;
};

}  // namespace quintet::shm
