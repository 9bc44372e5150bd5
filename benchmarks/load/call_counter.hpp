// SPDX-License-Identifier: BSL-1.0
// call_counter.hpp: counts another process's system calls through the kernel's tracepoints.
#pragma once

#include "unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace quintet::bench {

struct call_counts {
  std::uint64_t all = 0;
  std::uint64_t futex = 0;
};

class call_counter {
 public:
  /// Returns "" if counting is permitted, else the reason. Tests once, then remembers.
  static const std::string& obstacle();

  /// Counts in all threads of the process, and in those they start later. Throws std::runtime_error.
  explicit call_counter(pid_t process);
  call_counts read() const;

 private:
  std::vector<unique_fd> all_, futex_;
};

}  // namespace quintet::bench
