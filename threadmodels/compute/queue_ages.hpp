// SPDX-License-Identifier: BSL-1.0
// queue_ages: since when the items of a queue have waited, without a time in each item.
#pragma once

#include "../../base/clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace quintet {

/// For a first-in, first-out queue. It keeps marks, "items from this position on: this time". An item gets the time of
/// the mark before it, so its age is never too low. The error is at most 0.1 ms, or 1/64 of the oldest age when the
/// item was queued. With all marks in use, it grows.
class queue_ages {
 public:
  static constexpr duration finest = std::chrono::microseconds(100);

  /// Adds `count` items that are queued now.
  void push(std::uint64_t count, time_point now) noexcept {
    if (empty()) first_ = used_ = 0;
    if (used_ == 0 || (used_ < marks_.size() && now - at(used_ - 1).time >= spacing(now))) {
      at(used_) = {pushed_, now};
      ++used_;
    }
    pushed_ += count;
  }
  /// Removes the first item, and returns when it was queued. Requires !empty().
  time_point pop() noexcept {
    const time_point since = oldest();
    ++popped_;
    while (used_ > 1 && at(1).position <= popped_) {
      first_ = (first_ + 1) % marks_.size();
      --used_;
    }
    return since;
  }
  /// Since when the item waits that has `before` items in front of it. Requires more than that many.
  [[nodiscard]] time_point since(std::uint64_t before) const noexcept { return at(mark_of(popped_ + before)).time; }
  /// That item leaves the queue. Returns since when it has waited.
  time_point remove(std::uint64_t before) noexcept {
    if (before == 0) return pop();
    const std::size_t own = mark_of(popped_ + before);
    for (std::size_t n = own + 1; n < used_; ++n) --at(n).position;
    --pushed_;
    return at(own).time;
  }
  /// Returns when the first item was queued. Requires !empty().
  [[nodiscard]] time_point oldest() const noexcept { return marks_[first_].time; }
  [[nodiscard]] bool empty() const noexcept { return pushed_ == popped_; }

 private:
  struct mark {
    std::uint64_t position = 0;
    time_point time;
  };
  mark& at(std::size_t n) noexcept { return marks_[(first_ + n) % marks_.size()]; }
  [[nodiscard]] const mark& at(std::size_t n) const noexcept { return marks_[(first_ + n) % marks_.size()]; }
  /// Returns the last mark at or before this position, by bisection.
  [[nodiscard]] std::size_t mark_of(std::uint64_t position) const noexcept {
    std::size_t from = 0, behind = used_;
    while (behind - from > 1) {
      const std::size_t middle = from + (behind - from) / 2;
      (at(middle).position <= position ? from : behind) = middle;
    }
    return from;
  }
  [[nodiscard]] duration spacing(time_point now) const noexcept { return std::max(finest, (now - oldest()) / 64); }

  std::array<mark, 1024> marks_{};
  std::size_t first_ = 0, used_ = 0;
  std::uint64_t pushed_ = 0, popped_ = 0;
};

}  // namespace quintet
