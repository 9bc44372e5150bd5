// SPDX-License-Identifier: BSL-1.0
// wake_semaphore: ends the sleep of a worker.
#pragma once

#include "../../base/clock.hpp"

#include <cerrno>
#include <chrono>
#include <ctime>

#include <semaphore.h>

namespace quintet {

/// A condition variable would lock the mutex again as contended, so that its next unlock costs a system call. And a
/// post to a worker that does not sleep yet costs none here.
class wake_semaphore {
 public:
  wake_semaphore() noexcept { (void)::sem_init(&semaphore_, 0, 0); }
  wake_semaphore(const wake_semaphore&) = delete;
  wake_semaphore& operator=(const wake_semaphore&) = delete;
  ~wake_semaphore() { (void)::sem_destroy(&semaphore_); }

  /// [any thread] Ends this wait or the next one.
  void post() noexcept { (void)::sem_post(&semaphore_); }
  /// Waits for a post; time_point::max() means for ever. May end early. Returns false if `end` has passed.
  bool wait(time_point end) noexcept {
    if (end == time_point::max()) return ::sem_wait(&semaphore_) == 0 || errno == EINTR;
    const auto whole = std::chrono::floor<std::chrono::seconds>(end.time_since_epoch());
    const timespec until{whole.count(), (end.time_since_epoch() - whole).count()};
    return ::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until) == 0 || errno != ETIMEDOUT;
  }

 private:
  sem_t semaphore_;
};

}  // namespace quintet
