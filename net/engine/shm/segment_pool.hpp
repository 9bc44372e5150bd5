// SPDX-License-Identifier: BSL-1.0
// segment_pool: one file in memory for many connections, so that N processes that all know each other have N files.
#pragma once

#include "../passed_descriptors.hpp"
#include "closed_segments.hpp"
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
  segment_pool(std::size_t ring_size, std::size_t places,
               std::shared_ptr<closed_segments> closed = std::make_shared<closed_segments>());

  /// [any thread] Takes the first free place, with empty rings. `in_file` is valid while the segment exists. Makes
  /// another file if all places are in use. Returns the reason of a failure. Throws std::bad_alloc.
  [[nodiscard]] error_code take(segment& made, int& in_file, std::uint64_t& offset);
  /// [any thread] Returns how many files exist. At most one of them has no place in use.
  [[nodiscard]] std::size_t files() const;

 private:
  const std::shared_ptr<state> state_;  // leases keep it
  const std::shared_ptr<closed_segments> closed_;
};

/// The memory of a segment that this process has created: a place of a file, or a mapping of its own. The destructor
/// gives it back. A place can be used again at once if it was never offered, else only after leave(), once the peer has
/// left as well. The pages of a mapping are freed then, even if the peer keeps its own mapping.
class segment_lease {
 public:
  /// A mapping of its own.
  segment_lease(char* mapped, std::size_t size, std::shared_ptr<closed_segments> closed) noexcept
      : mapped_(mapped), size_(size), closed_(std::move(closed)) {}
  /// A place of a file.
  segment_lease(std::shared_ptr<segment_pool::state> pool, segment_file& file, std::size_t place,
                std::shared_ptr<closed_segments> closed) noexcept
      : pool_(std::move(pool)), file_(&file), place_(place), closed_(std::move(closed)) {}
  segment_lease(const segment_lease&) = delete;
  segment_lease& operator=(const segment_lease&) = delete;
  ~segment_lease();

  /// From now on a peer may know the memory.
  void note_offer(pid_t process) noexcept {
    process_ = process;
    is_offered_ = true;
  }
  /// Call when this process has accessed the memory for the last time. If the peer has left, returns false. Otherwise
  /// tells the peer that the connection ends, takes the socket over, gives `self` to closed_segments and returns true.
  [[nodiscard]] static bool leave(std::unique_ptr<segment_lease>& self, int socket) noexcept;
  [[nodiscard]] bool peer_has_left() const noexcept { return has_left(socket_.get()); }
  /// The peer accesses the memory no more, or does not mind.
  void note_left() noexcept { peer_left_ = true; }
  [[nodiscard]] pid_t process() const noexcept { return process_; }

  std::unique_ptr<segment_lease> next;  ///< for closed_segments

 private:
  const std::shared_ptr<segment_pool::state> pool_ = nullptr;
  segment_file* const file_ = nullptr;
  const std::size_t place_ = 0;
  char* const mapped_ = nullptr;
  const std::size_t size_ = 0;
  std::shared_ptr<closed_segments> closed_;
  passed_descriptors::owned_socket socket_;  // kept until the peer has left
  pid_t process_ = 0;                        // of the peer
  bool is_offered_ = false, peer_left_ = false;
};

}  // namespace quintet::shm
