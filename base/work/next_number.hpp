// SPDX-License-Identifier: BSL-1.0
// next_number: numbers that are given once in a process.
#pragma once

#include <atomic>
#include <cstdint>

namespace quintet {

/// [any thread] 1, 2, 3, ...: each call for the same kind of thing returns another number.
template <class Kind>
[[nodiscard]] std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace quintet
