// SPDX-License-Identifier: BSL-1.0
// thin_mutex: a mutex whose uncontended lock and unlock are inlined.
#pragma once

#include "work_item.hpp"

#include <atomic>

namespace quintet {

/// For sections of a few instructions that each message passes. std::mutex takes four times the instructions, because
/// its functions are calls. A thread that must wait sleeps in the kernel. A template of its atomics, so that a model
/// checker can run this code (threadmodels/tests/model_checking).
template <class Atomics>
class basic_thin_mutex {
 public:
  void lock() noexcept {
    int expected = is_free;
    if (!state_.compare_exchange_weak(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed))
        [[unlikely]]
      wait();
  }
  void unlock() noexcept {
    if (state_.exchange(is_free, std::memory_order_release) == is_awaited) [[unlikely]]
      state_.notify_one();
  }

 private:
  static constexpr int is_free = 0, is_held = 1, is_awaited = 2;

  // Whoever has waited leaves `is_awaited`, because others may wait as well.
  [[gnu::noinline]] void wait() noexcept {
    while (state_.exchange(is_awaited, std::memory_order_acquire) != is_free)
      state_.wait(is_awaited, std::memory_order_relaxed);
  }

  typename Atomics::template atomic<int> state_{};
};

using thin_mutex = basic_thin_mutex<std_atomics>;

}  // namespace quintet
