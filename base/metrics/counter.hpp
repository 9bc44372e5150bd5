// SPDX-License-Identifier: BSL-1.0
// counter: a number that one thread writes and any thread reads, at the price of a plain store.
#pragma once

#include "../build/sanitizers.hpp"

#include <atomic>
#include <cstdint>

// Compilers make three instructions of a relaxed load and store (g++ 12, clang 19). With them an echo of 8 bytes takes
// 145.7 instructions instead of 133.7 (benchmarks/budget/check, 100 connections): 9 % more. A sanitizer has to see
// both.
#if defined(__x86_64__) && !QUINTET_THREAD_SANITIZER
#define QUINTET_COUNTS_IN_ONE_INSTRUCTION 1
#else
#define QUINTET_COUNTS_IN_ONE_INSTRUCTION 0
#endif

namespace quintet {

/// One writer: adding is a load and a store, no locked instruction. Readers see some recent value.
class counter {
 public:
  void add(std::uint64_t n = 1) noexcept {
#if QUINTET_COUNTS_IN_ONE_INSTRUCTION
    __asm__("addq %1, %0" : "+m"(value_) : "er"(n));
#else
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
#endif
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace quintet
