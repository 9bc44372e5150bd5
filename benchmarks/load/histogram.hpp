// SPDX-License-Identifier: BSL-1.0
// histogram.hpp: latencies in logarithmic buckets, accurate to 0.8 %, in 18 KB for any number of values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace quintet::bench {

/// Values are nanoseconds up to 18 minutes; larger ones count as 18 minutes. Each power of two has 64 buckets, and each
/// value below 128 its own. The minimum and the maximum are exact.
class histogram {
 public:
  void record(std::uint64_t value) {
    ++counts_[index_of(value)];
    ++total_;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void merge(const histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t total() const { return total_; }
  std::uint64_t min() const { return total_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }

  /// Counts the values that are at most `value`, without those whose bucket reaches beyond it.
  std::uint64_t count_up_to(std::uint64_t value) const {
    const auto within = static_cast<std::ptrdiff_t>(index_of(value + 1));
    return std::accumulate(counts_.begin(), counts_.begin() + within, std::uint64_t{0});
  }

  /// Returns the multiple of `width` behind which, up to the next one, most values lie. 0 if empty.
  std::uint64_t mode(std::uint64_t width) const {
    std::uint64_t best = 0, most = 0, cell = 0, in_cell = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (middle_of(i) / width != std::exchange(cell, middle_of(i) / width)) in_cell = 0;
      in_cell += counts_[i];
      if (in_cell > most) {
        most = in_cell;
        best = cell * width;
      }
    }
    return best;
  }

  /// Returns the value that `percent` of the recorded values do not exceed: the middle of its bucket. 0 if empty.
  std::uint64_t percentile(double percent) const {
    if (total_ == 0) return 0;
    const double wanted = percent / 100 * static_cast<double>(total_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (counts_[i] != 0 && static_cast<double>(seen) >= wanted) return std::clamp(middle_of(i), min_, max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned half_bits = 6;
  static constexpr std::uint64_t half = 1u << half_bits;
  static constexpr unsigned top_bit = 40;
  static constexpr std::size_t buckets = 2 * half + (top_bit - half_bits - 1) * half;

  static std::size_t index_of(std::uint64_t value) {
    value = std::min(value, (std::uint64_t{1} << top_bit) - 1);
    if (value < 2 * half) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - (half_bits + 1);
    return (value >> shift) + shift * half;
  }

  static std::uint64_t middle_of(std::size_t index) {
    if (index < 2 * half) return index;
    const std::size_t shift = index / half - 1;
    const std::uint64_t low = (index - shift * half) << shift;
    return low + ((std::uint64_t{1} << shift) >> 1);
  }

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
};

}  // namespace quintet::bench
