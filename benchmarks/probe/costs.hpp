// SPDX-License-Identifier: BSL-1.0
// costs.hpp: measures the costs of waking, switching, locking and accepting on this machine, each separately.
#pragma once

#include <chrono>
#include <vector>

namespace quintet::bench {

/// Waking a thread on a core that has been idle. Times are microseconds.
struct wake_cost {
  double idle = 0;     ///< how long the core had been idle
  double cost = 0;     ///< CPU time of the waker
  double latency = 0;  ///< until the woken thread runs
};

/// Microseconds of CPU.
struct machine_costs {
  std::vector<wake_cost> wakes;
  double context_switch = 0;
  double work_factor = 1;  ///< CPU time of the work of a handler / the time that was asked for
  double turn = 0;         ///< an epoll_wait that finds an event
  double accept = 0;
  double lock = 0;  ///< a mutex that nobody else wants
  double line = 0;  ///< a cache line on its way from one CPU to the other
};

/// Measures on two different CPUs, which should be idle otherwise. Takes some ten times `each`.
machine_costs measure_costs(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds each);

}  // namespace quintet::bench
