// SPDX-License-Identifier: BSL-1.0
// two_threads.hpp: what two threads, each pinned to a CPU, cost each other: a cache line that moves between them, one
// that both write, and waking each other.
#pragma once

#include "load/histogram.hpp"
#include "unique_fd.hpp"

#include <chrono>
#include <cstdint>

namespace quintet::bench {

// The measuring functions throw std::system_error if a CPU may not be used.

/// Returns nanoseconds for one way of a cache line from thread to thread: the median over stretches of some hundred
/// round trips.
double measure_ping_pong(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds how_long);

/// How a thread waits for its eventfd.
enum class doorbell_wait {
  read,   ///< in a blocking read: the fewest system calls
  epoll,  ///< in epoll_wait, then it reads, as an event loop does
};

/// An eventfd at which one thread waits for another. Throws std::system_error where the system refuses.
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

/// Returns the nanoseconds of round trips from thread to thread. Each begins when the last one has ended.
histogram measure_doorbell(unsigned first_cpu, unsigned second_cpu, doorbell_wait how,
                           std::chrono::nanoseconds how_long);

enum class counter_layout { adjacent, padded };

struct planted_counters {
  unsigned first_cpu = 0, second_cpu = 1;
  std::uint64_t increments = 0;  // of each thread
};

struct planted_result {
  double ns = 0;                 // of an increment while both threads ran
  std::uint64_t increments = 0;  // of both threads, all stretches
};

/// Measures two threads with a counter each, in one cache line (false sharing) or in separate lines. The threads exceed
/// the requested count until both have run at the same time. Throws std::runtime_error if other programs prevent that.
planted_result count_side_by_side(const planted_counters&, counter_layout);

}  // namespace quintet::bench
