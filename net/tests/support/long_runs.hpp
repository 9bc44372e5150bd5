// SPDX-License-Identifier: BSL-1.0
// long_runs: whether a test may take long, as in scripts/ci/long, or must be short enough for each change.
#pragma once

#include <cstdlib>
#include <string_view>

namespace quintet::test {

/// Returns whether the environment has QUINTET_LONG=1.
inline bool is_long() {
  const char* const text = std::getenv("QUINTET_LONG");
  return text && std::string_view(text) == "1";
}

}  // namespace quintet::test
