// SPDX-License-Identifier: BSL-1.0
// syscall_counter.hpp: counts another process's system calls through the kernel's tracepoints, or else by strace.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "compare/strace_counter.hpp"
#include "unique_fd.hpp"

namespace quintet::bench {

class syscall_counter {
 public:
  // Returns "" if counting is permitted, else the reason. obstacle() and by_strace() test once, then remember.
  static const std::string& obstacle();
  static bool by_strace();

  // Counts in all threads of the process, and in those they start later. Throws run_error.
  explicit syscall_counter(pid_t);
  syscall_counts read() const;

 private:
  std::vector<unique_fd> all_, futex_;
  std::optional<strace_counter> strace_;
};

}  // namespace quintet::bench
