// SPDX-License-Identifier: BSL-1.0
// syscall_counts.hpp: how many system calls a process has made, since counting began.
#pragma once

#include <cstdint>

namespace quintet::bench {

struct syscall_counts {
  std::uint64_t all = 0;
  std::uint64_t futex = 0;
};

}  // namespace quintet::bench
