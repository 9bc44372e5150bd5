// SPDX-License-Identifier: BSL-1.0
// trial: sequences in child processes, so that a crash or an endless loop is a failure like any other.
#pragma once

#include "sequences/step.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace quintet::testing {

/// What went wrong in one sequence.
struct failure {
  std::uint64_t seed = 0;
  std::string what;
};

/// The sequences of these seeds; the first failure of each kind, up to `most`.
[[nodiscard]] std::vector<failure> try_seeds(unsigned model, std::uint64_t first, std::uint64_t count,
                                             std::size_t length, std::size_t most = 4);
/// One sequence of the setting; empty: nothing is wrong.
[[nodiscard]] std::string try_steps(const setting& s, const std::vector<step>& steps);
/// The failure, how to replay it, and the shortest sequence that fails as well, in readable lines.
[[nodiscard]] std::string describe(const failure& f, unsigned model, std::size_t length);

}  // namespace quintet::testing
