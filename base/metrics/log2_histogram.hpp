// SPDX-License-Identifier: BSL-1.0
// log2_histogram: counts values per power of two; one thread adds, any thread reads.
#pragma once

#include "counter.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace quintet {

/// Percentiles are upper bounds within a factor of two. Adding takes no lock and no locked instruction.
class log2_histogram {
 public:
  static constexpr std::size_t buckets = 65;  // 0, 1, 2 to 3, 4 to 7, ...

  /// Counts at some moment, read one by one while the writer continues.
  struct snapshot {
    std::array<std::uint64_t, buckets> counts{};
    std::uint64_t max = 0;

    [[nodiscard]] std::uint64_t total() const noexcept {
      std::uint64_t sum = 0;
      for (const std::uint64_t n : counts) sum += n;
      return sum;
    }
    /// Returns a bound that at least `percent` of the values do not exceed; 0 if there are none.
    [[nodiscard]] std::uint64_t percentile(double percent) const noexcept {
      const double wanted = static_cast<double>(total()) * percent / 100;
      std::uint64_t seen = 0;
      for (std::size_t b = 0; b < buckets; ++b) {
        seen += counts[b];
        if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(max, largest_in(b));
      }
      return 0;
    }
  };

  /// Adds a value. Only one thread may call this.
  void add(std::uint64_t value) noexcept {
    counts_[64 - static_cast<std::size_t>(std::countl_zero(value))].add();
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }
  [[nodiscard]] snapshot now() const noexcept {
    snapshot s;
    for (std::size_t b = 0; b < buckets; ++b) s.counts[b] = counts_[b].value();
    s.max = max_.load(std::memory_order_relaxed);
    return s;
  }

 private:
  static constexpr std::uint64_t largest_in(std::size_t bucket) noexcept {
    return bucket == 0 ? 0 : ~std::uint64_t{0} >> (buckets - 1 - bucket);
  }
  std::array<counter, buckets> counts_;
  std::atomic<std::uint64_t> max_{0};
};

}  // namespace quintet
