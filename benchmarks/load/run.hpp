// SPDX-License-Identifier: BSL-1.0
// run.hpp: one load run from the first connection to the last reply.
#pragma once

#include "load/settings.hpp"

#include <cstdint>
#include <functional>

namespace quintet::bench {

struct load_progress {
  bool warming = false;
  double seconds = 0;  ///< since the phase began
  double of_seconds = 0;
  std::uint64_t requests = 0;  ///< in the window so far
  std::uint64_t failed = 0;
};

/// Callbacks during a run. [caller's thread]
struct load_observer {
  std::function<void()> measuring;  ///< the warm-up has finished
  std::function<void()> measured;   ///< the window has finished, the connections are still open
  std::function<void(const load_progress&)> progress;
  std::chrono::milliseconds progress_interval{1000};
  int stop_fd = -1;  ///< if readable: the run ends early, with the results so far
};

/// Runs the load. Throws std::runtime_error if no connection can be made at all.
load_result run_load(const load_settings& settings, const load_observer& observer = {});

}  // namespace quintet::bench
