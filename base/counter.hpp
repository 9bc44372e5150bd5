// SPDX-License-Identifier: BSL-1.0
// counter: a number that one thread writes and any thread reads, at the price of a plain store.
#pragma once

#include <atomic>
#include <cstdint>

namespace quintet {

/// One writer: adding is a load and a store, no locked instruction. Readers see some recent value.
class counter {
 public:
  void add(std::uint64_t n = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace quintet
