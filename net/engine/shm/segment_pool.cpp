// SPDX-License-Identifier: BSL-1.0
// segment_pool: takes, returns and reuses places.
#include "segment_pool.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::shm {
namespace {

// The kernel maps at multiples of a page.
std::size_t stride_of(std::size_t ring_size) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (segment_size(ring_size) + page - 1) / page * page;
}

bool has_hung_up(const file_descriptor& socket) noexcept {
  pollfd about{.fd = socket.get(), .events = 0, .revents = 0};
  return ::poll(&about, 1, 0) == 1 && (about.revents & POLLHUP) != 0;
}

}  // namespace

/// A file and its places. Leases keep it alive.
class segment_pool::file : public std::enable_shared_from_this<file> {
 public:
  file(std::size_t ring_size, std::size_t places)
      : ring_size_(ring_size), stride_(stride_of(ring_size)), all_(places) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() {
    if (base_) (void)::munmap(base_, stride_ * all_.size());
  }
  [[nodiscard]] error_code open() noexcept { return make_sealed_file(stride_ * all_.size(), memory_, base_); }

  /// Returns false if no place is free. Throws std::bad_alloc.
  [[nodiscard]] bool take(segment& made, int& in_file, std::uint64_t& offset) {
    const std::lock_guard lock(mutex_);
    auto free = std::ranges::find(all_, state::free, &place::now);
    if (free == all_.end()) free = std::ranges::find_if(all_, &place::is_left_by_both);
    if (free == all_.end()) return false;
    const auto index = static_cast<std::size_t>(free - all_.begin());
    auto lease = std::make_unique<segment_lease>(shared_from_this(), index);
    *free = {.now = state::taken, .peer = {}};
    offset = index * stride_;
    std::memset(base_ + offset, 0, segment_size(0));  // empties the rings
    made = segment(base_ + offset, ring_size_, std::move(lease));
    in_file = memory_.get();
    return true;
  }
  void give_back(std::size_t index, file_descriptor peer) noexcept {
    const std::lock_guard lock(mutex_);
    all_[index] = {.now = peer ? state::left : state::lost, .peer = std::move(peer)};
  }

 private:
  enum class state : std::uint8_t {
    free,
    taken,
    left,  // by this process, perhaps not by the peer
    lost,  // nobody knows whether the peer has left
  };
  struct place {
    [[nodiscard]] bool is_left_by_both() const noexcept { return now == state::left && has_hung_up(peer); }
    state now = state::free;
    file_descriptor peer;
  };
  const std::size_t ring_size_, stride_;
  std::mutex mutex_;
  file_descriptor memory_;
  char* base_ = nullptr;
  std::vector<place> all_;
};

error_code segment_pool::take(segment& made, int& in_file, std::uint64_t& offset) {
  const std::lock_guard lock(mutex_);
  for (const auto& f : files_)
    if (f->take(made, in_file, offset)) return {};
  const auto fresh = std::make_shared<file>(ring_size_, places_);
  if (const error_code failed = fresh->open()) return failed;
  files_.push_back(fresh);
  (void)fresh->take(made, in_file, offset);
  return {};
}

std::size_t segment_pool::files() const {
  const std::lock_guard lock(mutex_);
  return files_.size();
}

segment_lease::~segment_lease() { from_->give_back(place_, std::move(peer_)); }

// The peer sees the end of the stream although a descriptor of the socket stays open here.
void segment_lease::leave(int socket) noexcept {
  peer_ = file_descriptor(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  (void)::shutdown(socket, SHUT_WR);
}

}  // namespace quintet::shm
