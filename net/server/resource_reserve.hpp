// SPDX-License-Identifier: BSL-1.0
// resource_reserve: descriptors and memory that a loop keeps for the time when the process has no more.
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

/// The owner calls refill() when a connection of the loop has been destroyed. In addition, a timer tries to refill the
/// reserve. It has several descriptors, because another thread may take a freed one first.
class resource_reserve final : private timer {
 public:
  resource_reserve(event_loop& loop, std::size_t descriptors, std::size_t memory) noexcept
      : loop_(loop), wanted_descriptors_(descriptors), wanted_memory_(memory) {}

  /// [loop], or [before run] Acquires the missing descriptors and memory, as far as available.
  void refill() noexcept;
  /// [loop] Called with the error of a failed accept. Returns true if no descriptor was available and the reserve has
  /// freed one: the caller should try again at once.
  bool try_free_descriptor(error_code why) noexcept;
  /// [loop] Called when a connection has been accepted.
  void accepted() noexcept { unsuccessful_frees_ = 0; }
  /// [loop] Returns f(). If f throws std::bad_alloc, frees the memory of the reserve and calls f again. Throws as f.
  template <std::invocable F>
  auto with_memory(F f) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      if (!free_memory()) throw;
    }
    return f();
  }

  /// [any thread] Return how often a descriptor, and the memory, has been freed for a connection.
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
  int unsuccessful_frees_ = 0;
  counter descriptors_given_, memory_given_;
};

}  // namespace quintet
