// SPDX-License-Identifier: BSL-1.0
// counters.hpp: two threads with a counter each, in one cache line (false sharing) or in separate lines.
#pragma once

#include <cstdint>

namespace quintet::bench {

enum class counter_layout { adjacent, padded };

struct planted_counters {
  unsigned first_cpu = 0, second_cpu = 1;
  std::uint64_t increments = 0;  // of each thread
};

struct planted_result {
  double ns = 0;                 // of an increment while both threads ran
  std::uint64_t increments = 0;  // of both threads, all stretches
};

// Measures with each thread pinned to its CPU. The threads exceed the requested count until both have run at the same
// time. Throws std::runtime_error if other programs prevent that.
planted_result count_side_by_side(const planted_counters&, counter_layout);

}  // namespace quintet::bench
