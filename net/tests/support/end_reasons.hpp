// SPDX-License-Identifier: BSL-1.0
// end_reasons: each closed connection is counted once in `closed`, and once by its reason.
#pragma once

#include <quintet/net/loop/loop_counters.hpp>

#include <cstdint>

namespace quintet::testing {

/// Returns the sum of the counters by reason.
inline std::uint64_t sum_of_reasons(const loop_statistics& s) {
  std::uint64_t sum = 0;
  loop_statistics::each_reason([&sum](const char*, std::uint64_t value) { sum += value; }, s);
  return sum;
}

/// Of loops that close no connection meanwhile.
inline bool reasons_add_up(const loop_statistics& s) { return sum_of_reasons(s) == s.closed; }

}  // namespace quintet::testing
