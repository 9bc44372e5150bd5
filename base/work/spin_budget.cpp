// SPDX-License-Identifier: BSL-1.0
// spin_budget: validates the budget, and records past spins.
#include "spin_budget.hpp"

#include "../error.hpp"
#include "duration_text.hpp"

#include <string>

namespace quintet {

void spin_budget::validate(duration budget) {
  using detail::duration_text;
  if (budget < duration::zero())
    throw config_error("spin is " + duration_text(budget) + "; it must be at least 0 (0 disables spinning)");
  if (budget > longest)
    throw config_error("spin is " + duration_text(budget) + "; it must be at most " + duration_text(longest));
}

void spin_budget::note(bool paid) noexcept {
  record_ -= record_ / weight;
  if (paid) record_ += certain / weight;
  if (record_ >= certain / 2) {
    step_ = 0;
    return;
  }
  step_ = paid ? step_ / 2 : std::min(2 * step_ + 1, most_skips);
  skips_ = step_;
}

}  // namespace quintet
