// SPDX-License-Identifier: BSL-1.0
// next_number: numbers that are unique in a process.
#pragma once

#include <atomic>
#include <cstdint>

namespace quintet {

/// [any thread] Returns 1, 2, 3, ...: another number for each call of the same Kind.
template <class Kind>
[[nodiscard]] std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace quintet
