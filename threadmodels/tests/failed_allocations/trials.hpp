// SPDX-License-Identifier: BSL-1.0
// trials: repeats a scenario, each time with another allocation that fails, in a process of its own.
#pragma once

#include "scenario.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quintet::test {

/// A burst of all allocations for a while, see failing_allocations::lasting_burst.
inline constexpr int all_for_a_while = -1;

/// Selects the allocations that fail.
struct trial_options {
  bool every_one = false;    ///< the n-th, for all n; otherwise the first one of each place that allocates
  int burst = 1;             ///< how many fail in a row, or all_for_a_while
  std::string_view at = {};  ///< if not empty: only at stacks with a frame that contains it
};

/// One defect, and the number of trials that have shown it.
struct finding {
  std::string what;                    ///< "lost 2 connections", "killed by signal 11", ...
  std::vector<std::string> failed_at;  ///< stack of the failed allocation, innermost first
  std::vector<std::string> ended_at;   ///< stack of the thread that has ended the process, if any
  unsigned trials = 1;
};

struct trial_report {
  unsigned trials = 0;      ///< trials with a failed allocation
  unsigned harmless = 0;    ///< of these, trials that lost no connection
  unsigned silent = 0;      ///< trials without a failure: the stack, or the n-th allocation, did not occur again
  std::size_t dropped = 0;  ///< allocations that were never tried, because the table of places was full
  std::vector<finding> findings;
};

[[nodiscard]] trial_report try_all(const scenario& what, const surroundings& where, const trial_options& how);
[[nodiscard]] std::string to_string(const trial_report& report);

}  // namespace quintet::test
