// SPDX-License-Identifier: BSL-1.0
// trials: a scenario again and again, each time with another allocation that fails, in a process of its own.
#pragma once

#include "scenario.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace quintet::test {

/// Which allocations fail.
struct trial_options {
  bool every_one = false;    ///< the n-th, for all n; else the first of each place in the program that allocates
  int burst = 1;             ///< so many in a row
  std::string_view at = {};  ///< with a text: only at stacks of which a frame contains it
};

/// One defect, and in how many trials it was seen.
struct finding {
  std::string what;                    ///< "lost 2 connections", "killed by signal 11", ...
  std::vector<std::string> failed_at;  ///< the stack of the allocation that failed, innermost first
  std::vector<std::string> ended_at;   ///< of the thread that has ended the process, if one has
  unsigned trials = 1;
};

struct trial_report {
  unsigned trials = 0;      ///< in which an allocation failed
  unsigned harmless = 0;    ///< of these: no connection was lost
  unsigned silent = 0;      ///< in which none failed: the stack, or the n-th allocation, did not come again
  std::size_t dropped = 0;  ///< allocations of places beyond those that there is room for: never tried
  std::vector<finding> findings;
};

[[nodiscard]] trial_report try_all(const scenario& what, const surroundings& where, const trial_options& how);
[[nodiscard]] std::string to_string(const trial_report& report);

}  // namespace quintet::test
