// SPDX-License-Identifier: BSL-1.0
// server_watch.hpp: what a server process did while it was measured.
#pragma once

#include <sys/types.h>

#include <optional>

#include "compare/server_sample.hpp"
#include "compare/syscall_counter.hpp"

namespace quintet::bench {

class server_watch {
 public:
  // Made while the server is idle; counts system calls too if that is asked for. Throws run_error, like all of these.
  server_watch(pid_t server, bool counting);

  void begin();
  void end();
  // Fills in what concerns the server, for the requests that are in the result already; they took `window_s`.
  void fill(run_result&, double window_s) const;
  // Of memory, from idle to the end.
  double grown_bytes() const { return after_.rss_bytes - idle_.rss_bytes; }
  // From begin() to end().
  double seconds() const { return after_.wall_s - before_.wall_s; }

 private:
  pid_t server_;
  std::optional<syscall_counter> counter_;
  server_sample idle_, before_, after_;
  syscall_counts counted_before_, counted_after_;
};

}  // namespace quintet::bench
