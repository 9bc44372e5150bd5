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

/// Which sequences are tried.
struct search {
  unsigned model = 1;
  std::uint64_t first = 1, count = 0;  ///< seeds
  std::size_t length = 200;            ///< of a sequence
  std::size_t most = 4;                ///< kinds of failures; then it ends
  bool announces = true;               ///< prints the seed of each kind as soon as it has failed
};

/// The first failure of each kind. Ends at a sequence that does not end. Throws where there is no child process.
[[nodiscard]] std::vector<failure> try_seeds(const search& wanted);
/// One sequence of the setting; empty: nothing is wrong.
[[nodiscard]] std::string try_steps(const setting& s, const std::vector<step>& steps);
/// The failure, how to replay it, and the shortest sequence that fails as well, in readable lines.
[[nodiscard]] std::string describe(const failure& f, unsigned model, std::size_t length);

}  // namespace quintet::testing
