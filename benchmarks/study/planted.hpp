// SPDX-License-Identifier: BSL-1.0
// planted.hpp: two threads with a counter each, in one cache line or apart: false sharing, and the same without.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace quintet::bench {

enum class counter_layout { adjacent, padded };
inline constexpr std::array all_layouts{counter_layout::adjacent, counter_layout::padded};
std::string_view to_string(counter_layout);
// Throws usage_error.
counter_layout parse_layout(const std::string&);

struct planted_counters {
  unsigned first_cpu = 0, second_cpu = 1;
  std::uint64_t increments = 0;  // of each thread
};

struct planted_result {
  double ns = 0;                 // of an increment while both threads were at work
  std::uint64_t increments = 0;  // of both, all that there were
};

// Each thread stays on its CPU. They go on beyond what was asked for until both were at work at the same time; throws
// run_error where other programs do not let them.
planted_result count_side_by_side(const planted_counters&, counter_layout);

}  // namespace quintet::bench
