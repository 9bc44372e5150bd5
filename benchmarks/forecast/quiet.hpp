// SPDX-License-Identifier: BSL-1.0
// quiet.hpp: waiting for moments in which other programs leave the machine alone, for as long as there is patience.
#pragma once

#include <chrono>

#include "compare/runner.hpp"

namespace quintet::bench::forecasting {

// Of all CPUs: what other programs may have.
inline constexpr double quiet = 0.05;
bool is_disturbed(const run_result&);

class quiet_moments {
 public:
  explicit quiet_moments(std::chrono::nanoseconds patience) : left_(patience) {}

  // Throws interrupted.
  void wait();
  // Waits, then measures; once more where others came in between or the run failed, while there is
  // patience left. Throws what measure_load_observed() throws, and interrupted.
  void measure(run_result&, const compare_settings&, const planned_run&, const placement&, load_observer&);

 private:
  std::chrono::nanoseconds left_;
};

}  // namespace quintet::bench::forecasting
