// SPDX-License-Identifier: BSL-1.0
// long_runs: whether a test may take as long as it needs, as in scripts/ci/long, or has to keep to what a change can
// wait for.
#pragma once

#include <cstdlib>
#include <string_view>

namespace quintet::test {

/// The environment says QUINTET_LONG=1.
inline bool is_long() {
  const char* const text = std::getenv("QUINTET_LONG");
  return text && std::string_view(text) == "1";
}

}  // namespace quintet::test
