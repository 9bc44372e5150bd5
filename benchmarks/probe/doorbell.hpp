// SPDX-License-Identifier: BSL-1.0
// doorbell.hpp: an eventfd at which one thread waits for another, and the time of waking each other by two.
#pragma once

#include "load/histogram.hpp"
#include "unique_fd.hpp"

#include <chrono>

namespace quintet::bench {

/// How a thread waits for its eventfd.
enum class doorbell_wait {
  read,   ///< in a blocking read: the fewest system calls
  epoll,  ///< in epoll_wait, then it reads, as an event loop does
};

/// Throws std::system_error where the system refuses.
class doorbell {
 public:
  explicit doorbell(doorbell_wait how = doorbell_wait::read);
  void ring() const;
  /// Waits until it has been rung since the last call.
  void await() const;
  /// With doorbell_wait::epoll: the set in which the eventfd is.
  const unique_fd& epoll() const { return epoll_; }

 private:
  unique_fd fd_, epoll_;
};

/// Returns the nanoseconds of the round trips of two threads, each pinned to a CPU. Each begins when the last one has
/// ended. Throws std::system_error if a CPU may not be used.
histogram measure_doorbell(unsigned first_cpu, unsigned second_cpu, doorbell_wait how,
                           std::chrono::nanoseconds how_long);

}  // namespace quintet::bench
