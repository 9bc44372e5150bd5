// SPDX-License-Identifier: BSL-1.0
// ping_pong.hpp: a cache line passed between two threads, each pinned to a CPU.
#pragma once

#include <chrono>

namespace quintet::bench {

// Returns nanoseconds for one way: the median over stretches of some hundred round trips. Throws std::system_error if a
// CPU may not be used.
double measure_ping_pong(unsigned first_cpu, unsigned second_cpu, std::chrono::nanoseconds how_long);

}  // namespace quintet::bench
