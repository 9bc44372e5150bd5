// SPDX-License-Identifier: BSL-1.0
// counter: a number that one thread writes and any thread reads, for a plain store; one that all write; and sums of
// tables of counters.
#pragma once

#include "../build/sanitizers.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

// Compilers make three instructions of a relaxed load and store (g++ 12, clang 19). With them an echo of 8 bytes takes
// 145.7 instructions instead of 133.7 (benchmarks/budget/check, 100 connections): 9 % more. Sanitizers must see both.
#if defined(__x86_64__) && !QUINTET_THREAD_SANITIZER
#define QUINTET_COUNTS_IN_ONE_INSTRUCTION 1
#else
#define QUINTET_COUNTS_IN_ONE_INSTRUCTION 0
#endif

namespace quintet {

/// One writer: add() is a load and a store, no locked instruction. Readers see a recent value.
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

/// A counter with any number of writers: add() is a locked instruction.
class shared_counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The sum of tables of counters at some moment. `Figures<Value>` declares the figures, each a `Value`. Its static
/// `each(f, tables...)` lists them: it calls f(name, figure...) for each figure, with that figure of each table.
template <template <class> class Figures>
struct figure_sums : Figures<std::uint64_t> {
  /// [any thread] Reads the counters one by one, while their writer may go on.
  template <class Counter>
  void add(const Figures<Counter>& counters) noexcept {
    static_assert(count() * sizeof(std::uint64_t) == sizeof(Figures<std::uint64_t>), "each() lists every figure");
    Figures<std::uint64_t>::each([](const char*, std::uint64_t& sum, const Counter& one) { sum += one.value(); }, *this,
                                 counters);
  }
  /// [any thread] Number of figures that `each` lists.
  [[nodiscard]] static constexpr std::size_t count() noexcept {
    const Figures<std::uint64_t> none{};
    std::size_t figures = 0;
    Figures<std::uint64_t>::each([&figures](const char*, const std::uint64_t&) { ++figures; }, none);
    return figures;
  }
};

}  // namespace quintet
