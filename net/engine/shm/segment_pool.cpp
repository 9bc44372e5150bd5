// SPDX-License-Identifier: BSL-1.0
// segment_pool: takes, returns and reuses places.
#include "segment_pool.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::shm {
namespace {

enum class place_state : std::uint8_t {
  free,
  taken,
  lost,  // nobody knows whether the peer has left
};

}  // namespace

std::size_t place_size(std::size_t ring_size) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (segment_size(ring_size) + page - 1) / page * page;
}

/// A file and its places. The pool's lock protects it.
class segment_file {
 public:
  segment_file(std::size_t ring_size, std::size_t places)
      : ring_size_(ring_size), stride_(place_size(ring_size)), all_(places) {}
  segment_file(const segment_file&) = delete;
  segment_file& operator=(const segment_file&) = delete;
  ~segment_file() {
    if (base_) (void)::munmap(base_, stride_ * all_.size());
  }
  [[nodiscard]] error_code open() noexcept { return make_sealed_file(stride_ * all_.size(), memory_, base_); }

  /// The first free place, or the number of places. Low places first: their pages have been touched before.
  [[nodiscard]] std::size_t first_free() const noexcept {
    return static_cast<std::size_t>(std::ranges::find(all_, place_state::free) - all_.begin());
  }
  [[nodiscard]] bool is_full() const noexcept { return first_free() == all_.size(); }
  [[nodiscard]] bool is_unused() const noexcept {
    return std::ranges::all_of(all_, [](place_state p) { return p == place_state::free; });
  }
  /// Makes a segment of a free place.
  void take(std::size_t index, std::unique_ptr<segment_lease> lease, segment& made, int& in_file,
            std::uint64_t& offset) noexcept {
    all_[index] = place_state::taken;
    offset = index * stride_;
    std::memset(base_ + offset, 0, segment_size(0));  // empties the rings
    made = segment(base_ + offset, ring_size_, std::move(lease));
    in_file = memory_.get();
  }
  void give_back(std::size_t index, place_state now) noexcept { all_[index] = now; }

 private:
  const std::size_t ring_size_, stride_;
  file_descriptor memory_;
  char* base_ = nullptr;
  std::vector<place_state> all_;
};

/// The files, which outlive the pool while a lease exists. A lease's file stays: its place is in use.
class segment_pool::state : public std::enable_shared_from_this<state> {
 public:
  state(std::size_t ring_size, std::size_t places) noexcept : ring_size_(ring_size), places_(places) {}

  [[nodiscard]] error_code take(segment& made, int& in_file, std::uint64_t& offset,
                                const std::shared_ptr<closed_segments>& closed) {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find(files_, false, &segment_file::is_full);
    if (found == files_.end()) {
      auto fresh = std::make_unique<segment_file>(ring_size_, places_);
      if (const error_code failed = fresh->open()) return failed;
      found = files_.insert(found, std::move(fresh));
    }
    segment_file& f = **found;
    const std::size_t index = f.first_free();
    f.take(index, std::make_unique<segment_lease>(shared_from_this(), f, index, closed), made, in_file, offset);
    drop_unused();
    return {};
  }
  void give_back(segment_file& to, std::size_t index, place_state now) noexcept {
    const std::lock_guard lock(mutex_);
    to.give_back(index, now);
    drop_unused();
  }
  [[nodiscard]] std::size_t files() const {
    const std::lock_guard lock(mutex_);
    return files_.size();
  }

 private:
  // Keeps the first, so that a pool does not make and drop a file with each connection.
  void drop_unused() noexcept {
    const auto first = std::ranges::find_if(files_, [](const auto& f) { return f->is_unused(); });
    if (first == files_.end()) return;
    files_.erase(std::remove_if(first + 1, files_.end(), [](const auto& f) { return f->is_unused(); }), files_.end());
  }

  const std::size_t ring_size_, places_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<segment_file>> files_;
};

segment_pool::segment_pool(std::size_t ring_size, std::size_t places, std::shared_ptr<closed_segments> closed)
    : state_(std::make_shared<state>(ring_size, places)), closed_(std::move(closed)) {}

error_code segment_pool::take(segment& made, int& in_file, std::uint64_t& offset) {
  closed_->sweep();
  return state_->take(made, in_file, offset, closed_);
}

std::size_t segment_pool::files() const { return state_->files(); }

// The peer may still read what it was sent, and in a child of fork() the memory is the parent's.
segment_lease::~segment_lease() {
  if (!pool_) {
    if (peer_left_) (void)::madvise(mapped_, size_, MADV_REMOVE);
    (void)::munmap(mapped_, size_);
    return;
  }
  pool_->give_back(*file_, place_, peer_left_ || !is_offered_ ? place_state::free : place_state::lost);
}

// The peer sees the end of the stream although the socket stays open here.
bool segment_lease::leave(std::unique_ptr<segment_lease>& self, int socket) noexcept {
  self->peer_left_ = has_left(socket);
  if (self->peer_left_) return false;
  self->socket_ = passed_descriptors::owned_socket(socket);
  (void)::shutdown(socket, SHUT_WR);
  const auto closed = std::move(self->closed_);  // which must not own itself
  closed->keep(std::move(self));
  return true;
}

}  // namespace quintet::shm
