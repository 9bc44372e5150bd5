// SPDX-License-Identifier: BSL-1.0
// syscall_counter.hpp: counts another process's system calls through the kernel's tracepoints, where that is permitted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "unique_fd.hpp"

namespace quintet::bench {

struct syscall_counts {
  std::uint64_t all = 0;
  std::uint64_t futex = 0;
};

class syscall_counter {
 public:
  // Empty if counting is permitted here, else why it is not. Asked once, then remembered.
  static const std::string& obstacle();

  // Counts in every thread that the process has and in those that these start later. Throws run_error.
  explicit syscall_counter(pid_t);
  syscall_counts read() const;

 private:
  std::vector<unique_fd> all_, futex_;
};

}  // namespace quintet::bench
