// SPDX-License-Identifier: BSL-1.0
// closed_segments: a queue of leases, asked in turn.
#include "closed_segments.hpp"

#include "segment_pool.hpp"

#include <algorithm>
#include <utility>

#include <poll.h>
#include <sys/ioctl.h>

namespace quintet::shm {

bool has_left(int socket) noexcept {
  pollfd about{.fd = socket, .events = 0, .revents = 0};
  int unreceived = 0;
  return ::poll(&about, 1, 0) == 1 && (about.revents & POLLHUP) != 0 &&
         (::ioctl(socket, TIOCOUTQ, &unreceived) != 0 || unreceived == 0);
}

// One by one: the destructors of a long list would recurse.
closed_segments::~closed_segments() {
  while (first_) first_ = std::move(first_->next);
}

bool closed_segments::admits(pid_t process) noexcept {
  sweep();
  const std::lock_guard lock(mutex_);
  return count_ < most_ && count_of(process) < most_of_process;
}

void closed_segments::keep(std::unique_ptr<segment_lease> closed) noexcept {
  sweep();
  const std::lock_guard lock(mutex_);
  ++count_;
  ++count_of(closed->process());
  segment_lease* const added = closed.get();
  (last_ ? last_->next : first_) = std::move(closed);
  last_ = added;
}

// Leases are destroyed without the lock: they give memory back to their pool.
void closed_segments::sweep() noexcept {
  std::unique_ptr<segment_lease> left;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t n = std::min(count_, most_in_sweep); n > 0; --n) {
      auto asked = std::exchange(first_, nullptr);
      first_ = std::move(asked->next);
      if (!first_) last_ = nullptr;
      if (asked->peer_has_left()) {
        --count_;
        --count_of(asked->process());
        asked->note_left();
        asked->next = std::move(left);
        left = std::move(asked);
        continue;
      }
      segment_lease* const again = asked.get();
      (last_ ? last_->next : first_) = std::move(asked);
      last_ = again;
    }
  }
  while (left) left = std::move(left->next);
}

std::size_t closed_segments::size() const noexcept {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace quintet::shm
