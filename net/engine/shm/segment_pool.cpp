// SPDX-License-Identifier: BSL-1.0
// segment_pool: takes, returns and reuses places.
#include "segment_pool.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet::shm {
namespace {

bool has_hung_up(const pollfd& about) noexcept { return (about.revents & POLLHUP) != 0; }

enum class place_state : std::uint8_t {
  free,
  taken,
  left,  // by this process, perhaps not by the peer
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
      : ring_size_(ring_size), stride_(place_size(ring_size)), all_(places) {
    asked_.reserve(places);
  }
  segment_file(const segment_file&) = delete;
  segment_file& operator=(const segment_file&) = delete;
  ~segment_file() {
    if (base_) (void)::munmap(base_, stride_ * all_.size());
  }
  [[nodiscard]] error_code open() noexcept { return make_sealed_file(stride_ * all_.size(), memory_, base_); }

  /// The first free place, or the number of places. Low places first: their pages have been touched before.
  [[nodiscard]] std::size_t first_free() const noexcept {
    return static_cast<std::size_t>(std::ranges::find(all_, place_state::free, &place::now) - all_.begin());
  }
  [[nodiscard]] bool is_full() const noexcept { return first_free() == all_.size(); }
  [[nodiscard]] bool is_unused() const noexcept {
    return std::ranges::all_of(all_, [](const place& p) { return p.now == place_state::free; });
  }
  /// Makes a segment of a free place.
  void take(std::size_t index, std::unique_ptr<segment_lease> lease, segment& made, int& in_file,
            std::uint64_t& offset) noexcept {
    all_[index].now = place_state::taken;
    offset = index * stride_;
    std::memset(base_ + offset, 0, segment_size(0));  // empties the rings
    made = segment(base_ + offset, ring_size_, std::move(lease));
    in_file = memory_.get();
  }
  void give_back(std::size_t index, place_state now, file_descriptor socket) noexcept {
    all_[index] = {.now = now, .socket = std::move(socket)};
  }
  /// Frees the places whose peers have left by now, and closes their sockets.
  void free_left_places() noexcept {
    asked_.clear();
    for (const place& p : all_)
      if (p.now == place_state::left) asked_.push_back({.fd = p.socket.get(), .events = 0, .revents = 0});
    if (asked_.empty() || ::poll(asked_.data(), asked_.size(), 0) <= 0) return;
    auto answer = asked_.begin();
    for (place& p : all_)
      if (p.now == place_state::left && has_hung_up(*answer++)) p = {};
  }

 private:
  struct place {
    place_state now = place_state::free;
    file_descriptor socket = {};  // of a place that is left
  };
  const std::size_t ring_size_, stride_;
  file_descriptor memory_;
  char* base_ = nullptr;
  std::vector<place> all_;
  std::vector<pollfd> asked_;  // has room for all places, so that no question needs memory
};

/// The files, which outlive the pool while a lease exists. A lease's file stays: its place is in use.
class segment_pool::state : public std::enable_shared_from_this<state> {
 public:
  state(std::size_t ring_size, std::size_t places) noexcept : ring_size_(ring_size), places_(places) {}

  [[nodiscard]] error_code take(segment& made, int& in_file, std::uint64_t& offset) {
    const std::lock_guard lock(mutex_);
    for (const auto& f : files_) f->free_left_places();
    auto found = std::ranges::find(files_, false, &segment_file::is_full);
    if (found == files_.end()) {
      auto fresh = std::make_unique<segment_file>(ring_size_, places_);
      if (const error_code failed = fresh->open()) return failed;
      found = files_.insert(found, std::move(fresh));
    }
    segment_file& f = **found;
    const std::size_t index = f.first_free();
    f.take(index, std::make_unique<segment_lease>(shared_from_this(), f, index), made, in_file, offset);
    drop_unused();
    return {};
  }
  void give_back(segment_file& to, std::size_t index, place_state now, file_descriptor socket) noexcept {
    const std::lock_guard lock(mutex_);
    to.give_back(index, now, std::move(socket));
    to.free_left_places();
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

segment_pool::segment_pool(std::size_t ring_size, std::size_t places)
    : state_(std::make_shared<state>(ring_size, places)) {}

error_code segment_pool::take(segment& made, int& in_file, std::uint64_t& offset) {
  return state_->take(made, in_file, offset);
}

std::size_t segment_pool::files() const { return state_->files(); }

segment_lease::~segment_lease() {
  place_state now = is_offered_ ? place_state::lost : place_state::free;
  if (is_left_) now = socket_ ? place_state::left : place_state::free;
  pool_->give_back(file_, place_, now, std::move(socket_));
}

// The peer sees the end of the stream although the socket stays open here.
bool segment_lease::leave(int socket) noexcept {
  is_left_ = true;
  pollfd about{.fd = socket, .events = 0, .revents = 0};
  if (::poll(&about, 1, 0) == 1 && has_hung_up(about)) return false;
  socket_ = file_descriptor(socket);
  (void)::shutdown(socket, SHUT_WR);
  return true;
}

}  // namespace quintet::shm
