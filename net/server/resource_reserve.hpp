// SPDX-License-Identifier: BSL-1.0
// resource_reserve: descriptors and memory that a loop holds back, for the time when neither can be had.
#pragma once

#include "../../base/metrics/counter.hpp"
#include "../../base/work/timer_queue.hpp"
#include "../engine/file_descriptor.hpp"
#include "../loop/event_loop.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace quintet {

/// What is given away is taken back when something of the loop's is over (refill()), and tried for from time to time
/// until then. Who else waits for a descriptor may be faster than who it was meant for; so there are several.
class resource_reserve final : private timer {
 public:
  resource_reserve(event_loop& loop, std::size_t descriptors, std::size_t memory) noexcept
      : loop_(loop), wanted_descriptors_(descriptors), wanted_memory_(memory) {}

  /// [loop], or [before run] Takes what can be had of what is missing.
  void refill() noexcept;
  /// [loop] Accepting has met this error. Whether to try again at once: there were no descriptors, and there is one
  /// now.
  bool helps_to_accept(error_code why) noexcept;
  /// [loop] It has accepted.
  void accepted() noexcept { given_in_vain_ = 0; }
  /// [loop] Returns f(), for which the memory of the reserve is freed when there is no other. Throws what f throws.
  template <std::invocable F>
  auto with_memory(F f) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      if (!free_memory()) throw;
    }
    return f();
  }

  /// [any thread] How often a descriptor, and the memory, has been given away.
  [[nodiscard]] std::uint64_t descriptors_given() const noexcept { return descriptors_given_.value(); }
  [[nodiscard]] std::uint64_t memory_given() const noexcept { return memory_given_.value(); }

 private:
  void expired() noexcept override;
  bool free_memory() noexcept;
  [[nodiscard]] bool is_full() const noexcept {
    return descriptors_.size() == wanted_descriptors_ && (memory_ || wanted_memory_ == 0);
  }

  event_loop& loop_;
  const std::size_t wanted_descriptors_, wanted_memory_;
  std::vector<file_descriptor> descriptors_;
  std::unique_ptr<std::byte[]> memory_;
  int given_in_vain_ = 0;
  counter descriptors_given_, memory_given_;
};

}  // namespace quintet
