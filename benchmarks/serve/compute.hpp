// SPDX-License-Identifier: BSL-1.0
// compute.hpp: CPU work of a given duration, as a fixed amount of arithmetic instead of a wait for the clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace quintet::bench {

/// Measures at construction how many steps this machine does in a microsecond. compute() then runs a fixed number of
/// steps, so it takes longer when other threads compete for the core, as real work does.
class calibrated_work {
 public:
  calibrated_work();
  void compute(std::chrono::microseconds time) const;

 private:
  double steps_per_us_;
};

}  // namespace quintet::bench
