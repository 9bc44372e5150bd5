// SPDX-License-Identifier: BSL-1.0
// syscall_counts.hpp: the number of a process's system calls since counting began.
#pragma once

#include <cstdint>

namespace quintet::bench {

struct syscall_counts {
  std::uint64_t all = 0;
  std::uint64_t futex = 0;
};

}  // namespace quintet::bench
