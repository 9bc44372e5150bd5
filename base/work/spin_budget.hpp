// SPDX-License-Identifier: BSL-1.0
// spin_budget: decides whether an idle thread spins before it sleeps: only while that pays.
#pragma once

#include "../clock.hpp"

#include <algorithm>

namespace quintet {

/// A wake-up costs more than a short spin, and a spin in vain costs the whole budget. So it records which recent spins
/// found something in time; the latest counts most. When fewer than half did, it skips the spin before some sleeps.
/// Each spin in vain doubles the number of skips, up to `most_skips`. So spinning resumes soon after it begins to pay.
/// For one thread.
class spin_budget {
 public:
  static constexpr duration longest = std::chrono::milliseconds(100);  ///< largest budget
  static constexpr unsigned most_skips = 512;                          ///< sleeps between two spins, at most

  /// Zero: never spins. Throws config_error if validate() does.
  explicit spin_budget(duration budget = duration::zero()) : budget_((validate(budget), budget)) {}
  /// Throws config_error for a budget that is negative or above `longest`.
  static void validate(duration budget);

  [[nodiscard]] bool enabled() const noexcept { return budget_ > duration::zero(); }

  enum class outcome {
    skipped,      ///< no look: spins do not pay at the moment
    ready,        ///< the first look found something: the thread would not have slept
    paid,         ///< something came within the budget
    failed,       ///< nothing came
    interrupted,  ///< something was found, but after the budget: this thread was held up, and the spin has not paid
  };
  [[nodiscard]] static constexpr bool found(outcome o) noexcept {
    return o == outcome::ready || o == outcome::paid || o == outcome::interrupted;
  }
  /// Spins before a sleep of at most `sleep`. look() returns whether there is something to do.
  template <class Look>
  outcome spin(const clock& time, duration sleep, Look look);

 private:
  static constexpr unsigned certain = 256, weight = 8;  // the record is 0 to certain; the latest spin is 1 in weight

  void note(bool paid) noexcept;

  duration budget_;
  unsigned record_ = certain;
  unsigned step_ = 0;   // sleeps to skip after a spin while the record is bad
  unsigned skips_ = 0;  // skips left
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
    if (!something) return outcome::failed;
    return over ? outcome::interrupted : outcome::paid;
  }
}

}  // namespace quintet
