// SPDX-License-Identifier: BSL-1.0
// doorbell.hpp: two threads, each pinned to a CPU, that wake each other by eventfds.
#pragma once

#include "load/histogram.hpp"

#include <chrono>

namespace quintet::bench {

/// How a thread waits for its eventfd.
enum class doorbell_wait {
  read,   ///< in a blocking read: the fewest system calls
  epoll,  ///< in epoll_wait, then it reads, as an event loop does
};

/// Returns the nanoseconds of the round trips. Each begins when the last one has ended. Throws std::system_error if a
/// CPU may not be used.
histogram measure_doorbell(unsigned first_cpu, unsigned second_cpu, doorbell_wait how,
                           std::chrono::nanoseconds how_long);

}  // namespace quintet::bench
