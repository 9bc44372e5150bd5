// SPDX-License-Identifier: BSL-1.0
// copied_bytes: how many payload bytes the library has copied, to show that it copies few.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quintet {

#ifdef QUINTET_COUNT_COPIES
inline constexpr bool counts_copies = true;
#else
inline constexpr bool counts_copies = false;
#endif

namespace detail {

inline std::atomic<std::uint64_t> copied{0};

/// [any thread] Counts a copy. Does nothing unless the library and the program were built with
/// -DQUINTET_COUNT_COPIES=ON, as the preset `dev` does: the threads share the counter, which costs time.
inline void note_copied([[maybe_unused]] std::size_t size) noexcept {
  if constexpr (counts_copies) copied.fetch_add(size, std::memory_order_relaxed);
}

}  // namespace detail

/// [any thread] Returns the bytes of input and output that the library has copied from one place in memory to another,
/// in this process. What the kernel copies does not count. 0 unless `counts_copies`.
[[nodiscard]] inline std::uint64_t copied_bytes() noexcept { return detail::copied.load(std::memory_order_relaxed); }

}  // namespace quintet
