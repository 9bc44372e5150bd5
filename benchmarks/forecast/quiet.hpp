// SPDX-License-Identifier: BSL-1.0
// quiet.hpp: waits for moments in which other programs are idle, up to a time limit.
#pragma once

#include <chrono>

#include "compare/runner.hpp"

namespace quintet::bench::forecasting {

// Fraction of all CPUs that other programs may use.
inline constexpr double quiet = 0.05;
bool is_disturbed(const run_result&);

class quiet_moments {
 public:
  explicit quiet_moments(std::chrono::nanoseconds patience) : left_(patience) {}

  // Waits for a quiet moment. Throws interrupted.
  void wait();
  // Waits, then measures. It repeats disturbed and failed runs until the time limit. Throws what
  // measure_load_observed() throws, and interrupted.
  void measure(run_result&, const compare_settings&, const planned_run&, const placement&, server_observer&);

 private:
  std::chrono::nanoseconds left_;
};

}  // namespace quintet::bench::forecasting
