// SPDX-License-Identifier: BSL-1.0
// spin_budget: whether a thread with nothing to do looks again and again for a while before it sleeps: while that pays.
#pragma once

#include "../clock.hpp"

#include <algorithm>

namespace quintet {

/// Being woken costs more than looking for a short while, and looking in vain costs the whole while. So it keeps a
/// record of how many of the last spins, the latest counting most, found something before their time was over. When
/// they are fewer than half, it lets sleeps pass without a spin, after each one in vain twice as many, and tries again
/// then: it is back soon after spinning has begun to pay. Who is never woken never spins. For one thread.
class spin_budget {
 public:
  static constexpr duration longest = std::chrono::milliseconds(100);  ///< that a budget may be
  static constexpr unsigned most_skips = 512;                          ///< sleeps between two tries that are in vain

  /// Zero: never spins. Throws config_error if validate() does.
  explicit spin_budget(duration budget = duration::zero()) : budget_((validate(budget), budget)) {}
  /// Throws config_error for one that is negative or above `longest`.
  static void validate(duration budget);

  [[nodiscard]] bool enabled() const noexcept { return budget_ > duration::zero(); }

  enum class outcome {
    skipped,      ///< it has not been looked at all: spins do not pay at the moment
    ready,        ///< there was something at the first look, so that nobody would have slept
    paid,         ///< something came within the budget
    in_vain,      ///< nothing came
    interrupted,  ///< something was found, but after the budget: this thread was held up, and spinning has not paid
  };
  [[nodiscard]] static constexpr bool found(outcome o) noexcept {
    return o == outcome::ready || o == outcome::paid || o == outcome::interrupted;
  }
  /// Before a sleep that would last for at most `sleep`. look() says whether there is something to do.
  template <class Look>
  outcome spin(const clock& time, duration sleep, Look look);

 private:
  static constexpr unsigned certain = 256, weight = 8;  // of the record: 0 to certain, the latest spin is 1 in weight

  void note(bool paid) noexcept;

  duration budget_;
  unsigned record_ = certain;
  unsigned step_ = 0;   // sleeps to skip after a spin while the record is bad
  unsigned skips_ = 0;  // still to come
};

template <class Look>
spin_budget::outcome spin_budget::spin(const clock& time, duration sleep, Look look) {
  if (skips_ > 0) {
    --skips_;
    return outcome::skipped;
  }
  if (look()) return outcome::ready;
  const time_point end = time.now() + std::min(budget_, sleep);
  for (;;) {
    const bool something = look();
    const bool over = time.now() >= end;
    if (!something && !over) continue;
    note(something && !over);
    if (!something) return outcome::in_vain;
    return over ? outcome::interrupted : outcome::paid;
  }
}

}  // namespace quintet
