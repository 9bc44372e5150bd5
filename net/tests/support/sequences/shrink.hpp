// SPDX-License-Identifier: BSL-1.0
// shrink: finds a short sequence that still fails, by removing steps.
#pragma once

#include "step.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace quintet::testing {

/// Requires that fails(steps) holds. Removes halves, quarters, ... and single steps (Zeller's ddmin). Then simplifies
/// the remaining steps: the loops run until idle after each step, and `extra` is 0.
template <class Fails>
std::vector<step> shrink(std::vector<step> steps, Fails fails) {
  const auto keep_if_fails = [&](std::vector<step>&& candidate) {
    if (!fails(candidate)) return false;
    steps = std::move(candidate);
    return true;
  };
  for (std::size_t chunk = (steps.size() + 1) / 2; chunk > 0; chunk = chunk == 1 ? 0 : (chunk + 1) / 2)
    for (bool again = true; again;) {
      again = false;
      for (std::size_t at = 0; at < steps.size();) {
        std::vector<step> candidate = steps;
        candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(at),
                        candidate.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, steps.size())));
        if (keep_if_fails(std::move(candidate)))
          again = chunk == 1;
        else
          at += chunk;
      }
    }
  const auto simplify = [&](auto change) {
    for (std::size_t at = 0; at < steps.size(); ++at) {
      std::vector<step> candidate = steps;
      change(candidate[at]);
      (void)keep_if_fails(std::move(candidate));
    }
  };
  simplify([](step& s) { s.turns = until_rest; });
  simplify([](step& s) { s.extra = 0; });
  return steps;
}

}  // namespace quintet::testing
