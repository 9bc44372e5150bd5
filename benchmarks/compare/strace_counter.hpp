// SPDX-License-Identifier: BSL-1.0
// strace_counter.hpp: counts another process's system calls by strace, if the kernel's tracepoints are not accessible.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "compare/syscall_counts.hpp"

namespace quintet::bench {

class child_process;

// strace slows the server down a lot, so more work is ready at each wake-up. The counts are those of a busier server.
class strace_counter {
 public:
  // Returns "" if strace is installed and may attach to child processes, else the reason. Tried once, then remembered.
  static const std::string& obstacle();

  // Attaches to the process before it returns. `calls` is strace's list of calls to trace, or "all". Throws run_error.
  explicit strace_counter(pid_t, const std::string& calls = "all");
  ~strace_counter();
  syscall_counts read() const;
  // Returns strace's output so far: lines such as "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 16".
  std::string printed() const;

 private:
  std::unique_ptr<child_process> strace_;
};

}  // namespace quintet::bench
