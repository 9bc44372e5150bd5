// SPDX-License-Identifier: BSL-1.0
// strace_counter.hpp: counts another process's system calls by strace, for whom the kernel's tracepoints are not open.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "compare/syscall_counts.hpp"

namespace quintet::bench {

class child_process;

// It slows the server down a lot, so that more work is ready whenever it looks: the counts are those of a busier
// server.
class strace_counter {
 public:
  // Empty if strace is here and may attach to processes of ours, else why not. Tried once, then remembered.
  static const std::string& obstacle();

  // Has attached to the process when it is made. `calls`: strace's list of those that it looks at, or all. Throws
  // run_error.
  explicit strace_counter(pid_t, const std::string& calls = "all");
  ~strace_counter();
  syscall_counts read() const;
  // What strace has printed until now: lines such as "[pid 7] accept4(14, NULL, NULL, SOCK_CLOEXEC) = 16".
  std::string printed() const;

 private:
  std::unique_ptr<child_process> strace_;
};

}  // namespace quintet::bench
