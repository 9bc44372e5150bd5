// SPDX-License-Identifier: BSL-1.0
// compute.cpp: the busy arithmetic and its calibration.
#include "serve/compute.hpp"

#include <algorithm>

namespace quintet::bench {
namespace {

/// A dependent chain that neither the compiler nor the processor can shorten: each step needs the previous result.
void do_steps(std::uint64_t steps) {
  std::uint64_t state = steps;
  for (std::uint64_t i = 0; i < steps; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(state));
  }
}

}  // namespace

calibrated_work::calibrated_work() : steps_per_us_(0) {
  constexpr std::uint64_t steps = 200'000;
  constexpr int trials = 40;
  // The fastest trial is the one without an interruption.
  for (int i = 0; i < trials; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    do_steps(steps);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    steps_per_us_ = std::max(steps_per_us_, static_cast<double>(steps) / took.count());
  }
}

void calibrated_work::compute(std::chrono::microseconds time) const {
  do_steps(static_cast<std::uint64_t>(static_cast<double>(time.count()) * steps_per_us_));
}

}  // namespace quintet::bench
