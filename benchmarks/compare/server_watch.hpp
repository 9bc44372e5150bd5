// SPDX-License-Identifier: BSL-1.0
// server_watch.hpp: observes a server process during a measurement.
#pragma once

#include <sys/types.h>

#include <optional>

#include "compare/server_sample.hpp"
#include "compare/syscall_counter.hpp"

namespace quintet::bench {

class server_watch {
 public:
  // Construct it while the server is idle. `counting` also counts system calls. All functions throw run_error.
  server_watch(pid_t server, bool counting);

  void begin();
  void end();
  // Fills in the server's figures for the requests already in the result, which took `window_s`.
  void fill(run_result&, double window_s) const;
  // Returns the growth of memory from idle to the end.
  double grown_bytes() const { return after_.rss_bytes - idle_.rss_bytes; }
  // Returns the time from begin() to end().
  double seconds() const { return after_.wall_s - before_.wall_s; }

 private:
  pid_t server_;
  std::optional<syscall_counter> counter_;
  server_sample idle_, before_, after_;
  syscall_counts counted_before_, counted_after_;
};

}  // namespace quintet::bench
